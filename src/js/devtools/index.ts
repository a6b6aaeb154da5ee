// A panel that shows what a cache does. Nothing of it is part of the main entry: a page imports it where somebody asks for it.
import { makeElement, type WatchCacheDevtools } from "./element.js";

export type { WatchCacheDevtools } from "./element.js";

const NAME = "watchcache-devtools";

/**
 * Defines the custom element `<watchcache-devtools>`, once. Set its property `cache`. It reads figures twice a second while it is on the page,
 * and listens to nothing otherwise. It needs no `unsafe-inline` of a content security policy.
 *
 * Where there are no custom elements, as on a server, it does nothing.
 */
export function defineDevtools(): void {
  if (typeof customElements === "undefined" || customElements.get(NAME) !== undefined) return;
  customElements.define(NAME, makeElement());
}

declare global {
  interface HTMLElementTagNameMap {
    "watchcache-devtools": WatchCacheDevtools;
  }
}
