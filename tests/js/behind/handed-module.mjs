// One of them. Each query is a module of its own.
import { handed } from "./handed.mjs";

export default handed(Number(new URL(import.meta.url).searchParams.get("number")));
