// As Jest is without a word about the package.
module.exports = { testMatch: ["**/refused.spec.js"] };
