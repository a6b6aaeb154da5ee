test("Jest refuses ES modules where nothing turns them into CommonJS, and names the setting", () => {
  for (const name of ["watchcache", "watchcache/inline"]) expect(() => require(name)).toThrow(/transformIgnorePatterns/);
});
