module.exports = {
  testMatch: ["**/node.spec.js", "**/jsdom.spec.js"],
  testTimeout: 60_000,
  moduleNameMapper: { "^watchcache$": "watchcache/inline" },
  transformIgnorePatterns: ["/node_modules/(?!watchcache/)"],
};
