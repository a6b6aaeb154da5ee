import { flag } from "../options/kinds.js";

export const REFRESH = { reset: flag };
