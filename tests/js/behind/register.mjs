// `node --import ./tests/js/behind/register.mjs --test tests/js/list.test.mjs`: the caches of tests/js are behind a worker. Its half runs in the
// same process, behind a real port. So a module that it imports by its address is the one that the test holds.
import { register } from "node:module";

register("./hooks.mjs", import.meta.url);
