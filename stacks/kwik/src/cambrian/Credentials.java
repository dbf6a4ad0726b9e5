package cambrian;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;

/** A PEM certificate and its key (PKCS #8), as the key store that kwik takes. */
final class Credentials {

    static final String ALIAS = "cambrian";
    static final char[] PASSWORD = "cambrian".toCharArray();

    private Credentials() {}

    static KeyStore read(String certificateFile, String keyFile) throws IOException, GeneralSecurityException {
        Certificate certificate = CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(Files.readAllBytes(Path.of(certificateFile))));
        String pem = Files.readString(Path.of(keyFile)).replaceAll("-----[A-Z ]+-----|\\s", "");
        PKCS8EncodedKeySpec key = new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem));
        String algorithm = certificate.getPublicKey().getAlgorithm();
        KeyStore store = KeyStore.getInstance("JKS");
        store.load(null, null);
        store.setKeyEntry(ALIAS, KeyFactory.getInstance(algorithm).generatePrivate(key), PASSWORD,
                new Certificate[] {certificate});
        return store;
    }
}
