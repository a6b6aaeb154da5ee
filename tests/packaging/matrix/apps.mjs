// The apps of the matrix: how each tool is started, and where it leaves what it built. Their files are in tests/packaging/apps.

/**
 * @typedef {object} Bundler
 * @property {string} title The tool as its users write it.
 * @property {string[][]} build The commands of a build, one after another.
 * @property {string} out The folder that a server gives away afterwards.
 * @property {(port: number) => string[]} [dev] The development server, where the tool has one.
 */

/** @type {Record<string, Bundler>} */
export const bundlers = {
  vite7: {
    title: "Vite 7",
    build: [["vite", "build"]],
    out: "dist",
    dev: (port) => ["vite", "--host", "127.0.0.1", "--port", String(port), "--strictPort"],
  },
  vite8: {
    title: "Vite 8",
    build: [["vite", "build"]],
    out: "dist",
    dev: (port) => ["vite", "--host", "127.0.0.1", "--port", String(port), "--strictPort"],
  },
};
