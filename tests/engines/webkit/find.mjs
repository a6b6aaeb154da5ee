// Runs in the page: which elements a locator means. It knows those of Playwright's rules that the tests use.

/**
 * A step of a locator: by CSS, by the text within, by role and name, or the first or last of what is there.
 * @typedef {{ css: string } | { text: string, exact: boolean } | { role: string, name: Pattern, exact: boolean } | { hasText: Pattern }
 *   | { has: Step[] } | { first: true } | { last: true }} Step
 * @typedef {{ text: string } | { source: string, flags: string }} Pattern
 */

/** @param {Step[]} steps @returns {Element[]} */
export function find(steps) {
  const isVisible = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0 && element.checkVisibility({ visibilityProperty: true });
  };
  const normal = (text) => (text ?? "").replace(/\s+/g, " ").trim();
  const matches = (text, pattern, exact) => {
    if (pattern.source !== undefined) return new RegExp(pattern.source, pattern.flags).test(text);
    return exact ? text === pattern.text : text.toLowerCase().includes(pattern.text.toLowerCase());
  };
  /** All of a selector; a selector that begins with a custom element reaches into its shadow. */
  const select = (roots, css) => {
    const [, host, inside] = /^([a-z]+-[a-z-]+) (.+)$/.exec(css) ?? [];
    return roots.flatMap((element) => {
      const root = element.shadowRoot ?? element;
      const shadows = host ? [...root.querySelectorAll(host)].flatMap((element) => element.shadowRoot ?? []) : [];
      return shadows.length > 0 ? shadows.flatMap((shadow) => [...shadow.querySelectorAll(inside)]) : [...root.querySelectorAll(css)];
    });
  };
  const ROLES = { button: "button, [role=button]" };
  const apply = (roots, all) => {
    let found = roots;
    for (const step of all) {
      if (step.first) found = found.slice(0, 1);
      else if (step.last) found = found.slice(-1);
      else if (step.hasText) found = found.filter((element) => matches(normal(element.textContent), step.hasText, false));
      else if (step.has) found = found.filter((element) => apply([element], step.has).length > 0);
      else if (step.role) {
        const name = (element) => normal(element.getAttribute("aria-label") ?? element.textContent);
        found = select(found, ROLES[step.role]).filter((element) => isVisible(element) && matches(name(element), step.name, step.exact));
      } else if (step.text !== undefined) {
        const says = (element) => matches(normal(element.textContent), { text: step.text }, step.exact);
        found = select(found, "*").filter((element) => says(element) && ![...element.children].some(says));
      } else {
        const [, css, visible] = /^(.*?)(:visible)?$/.exec(step.css);
        found = select(found, css).filter((element) => !visible || isVisible(element));
      }
    }
    return [...new Set(found)];
  };
  return apply([document], steps);
}
