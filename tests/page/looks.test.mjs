// What the page looks like: light, dark, narrow, wide. Contrast is measured on the rendered page.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PHONE, keep, launch, live, open, serve } from "./harness.mjs";

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {import("playwright-core").Browser} */
let browser;

before(async () => {
  [server, browser] = await Promise.all([serve({ pods: 800, rate: 40 }), launch()]);
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** @type {Record<string, import("playwright-core").BrowserContextOptions>} */
const LOOKS = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  narrow: { colorScheme: "light", viewport: { width: 360, height: 780 } },
  "narrow-dark": { colorScheme: "dark", viewport: { width: 360, height: 780 } },
  tablet: { colorScheme: "light", viewport: { width: 900, height: 1_100 } },
  "4k": { colorScheme: "light", viewport: { width: 3_840, height: 2_160 } },
};

for (const [name, options] of Object.entries(LOOKS)) {
  test(`${name}: readable, and nothing sticks out`, name.startsWith("narrow") ? PHONE : {}, async () => {
    const { page, said, close } = await open(browser, server.url, options);
    try {
      await live(page);
      await page.locator('[data-testid="integrity-version"]').waitFor();
      await page.locator('[data-testid="log-entry"][data-open="false"]').waitFor();
      await keep(page, name, /narrow|tablet/.test(name));
      assert.deepEqual(await page.evaluate(faintTexts), [], "every text has a contrast of 4.5 or more");
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "no sideways scrolling");
      const table = await page.locator('[role="grid"]').boundingBox();
      assert.ok(table && table.height > 200 && table.width > 300, `the table has room: ${JSON.stringify(table)}`);
      assert.deepEqual(said, []);
    } finally {
      await close();
    }
  });
}

/** In the page: visible texts whose contrast with what lies behind them is below WCAG's AA. */
function faintTexts() {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  if (!canvas) throw new Error("no canvas");
  /** @param {string} color @param {number[]} under */
  const paint = (color, under) => {
    canvas.fillStyle = `rgb(${under.join(" ")})`;
    canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  /** @param {number[]} color */
  const luminance = (color) => {
    const [r, g, b] = color.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  /** @param {Element} element @returns {number[]} */
  const behind = (element) =>
    paint(getComputedStyle(element).backgroundColor, element.parentElement ? behind(element.parentElement) : [255, 255, 255]);
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!element || !node.textContent?.trim() || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const back = behind(element);
    const [light, dark] = [luminance(paint(getComputedStyle(element).color, back)), luminance(back)].sort((a, b) => b - a);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < 4.5) faint.push(`${node.textContent.trim()}: ${contrast.toFixed(2)}`);
  }
  return faint;
}
