import { openCache } from "../../../dist/cache/cache.js";
import { ModelModule } from "./model.mjs";

/** Lets everything that is due in microtasks happen. */
export async function settle(rounds = 20) {
  for (let i = 0; i < rounds; i++) await Promise.resolve();
}

/** A cache over the model, with one resource that is used and listed. `reported` collects what subscribers threw. */
export async function openModel({ objects = [], version = "10", options = {}, ready = true } = {}) {
  const module = new ModelModule();
  const runtime = module.runtime({ ready });
  const reported = [];
  const logger = { debug() {}, info() {}, warn() {}, error: (...words) => reported.push(words.at(-1)) };
  const source = { async list() {}, async *watch() {} };
  const cache = openCache({ flush: "microtask", logger, ...options }, runtime);
  const resource = cache.resource({ source, id: "pods" });
  const model = () => module.resources.at(-1);
  if (ready) {
    resource.peek("default/none");
    model().sync(objects, version);
    await settle();
  }
  return { cache, resource, module, model: model(), models: module.resources, runtime, reported, source };
}
