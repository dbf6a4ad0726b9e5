/* OpenSSL's randomness from the operating system alone. */
#ifndef ENTROPY_H
#define ENTROPY_H

/* OpenSSL 3 mixes the processor's time-stamp counter into its generator, which
   would give each run other keys and ECDSA signatures of other lengths, and so
   other packet sizes, under the same seed. This makes getrandom(2) the only
   source. Exits with 1 if OpenSSL refuses. */
void entropy_from_system(void);

#endif
