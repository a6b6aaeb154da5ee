export default { testMatch: ["**/*.spec.js"], testTimeout: 60_000 };
