// Where the package cannot know that it was moved: the optimizer's cache is in no node_modules folder.
export default {
  cacheDir: "elsewhere",
  optimizeDeps: process.env.EXCLUDE ? { exclude: [process.env.EXCLUDE] } : {},
};
