import js from "@eslint/js";
import ts from "typescript-eslint";

export default ts.config(
  { ignores: [".tests/", "node_modules/"] },
  js.configs.recommended,
  { files: ["**/*.ts"], extends: [ts.configs.strictTypeChecked], languageOptions: { parserOptions: { project: true } } },
  {
    files: ["**/*.ts"],
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // node:test returns promises that it awaits itself
      "@typescript-eslint/no-floating-promises": ["error", { allowForKnownSafeCalls: [{ from: "package", name: ["test"], package: "node:test" }] }],
    },
  },
  { files: ["*.mjs"], languageOptions: { globals: { process: "readonly", URL: "readonly" } } },
);
