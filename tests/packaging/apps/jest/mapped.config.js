export default { testMatch: ["**/mapped.spec.js"], testTimeout: 60_000, moduleNameMapper: { "^watchcache$": "watchcache/inline" } };
