// A source of one's own, as a worker imports it by its address. Its one object says where it was made.
const made = String(Math.random());
const place = typeof document === "object" ? "a page" : "a worker";
const of = new URL(import.meta.url).searchParams.get("of");

export default (id) => ({
  async list() {
    const object = { metadata: { name: "one", resourceVersion: "1" }, made, place, of, id };
    return { body: JSON.stringify({ metadata: { resourceVersion: "1" }, items: [object] }) };
  },
  async *watch(_, signal) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  },
});
