// Which browser this is. Only Chromium tells its whole version; the others tell it in the text that all browsers send.

/** What a user agent calls itself, by what only its engine says. Chromium's text holds the words of the others, so it comes first. */
const ENGINES = [
  [/\b(?:Headless)?Chrome\/([\d.]+)/, "Chromium"],
  [/\bFirefox\/([\d.]+)/, "Firefox"],
  [/\bVersion\/([\d.]+) .*\bSafari\//, "WebKit, as Safari"],
  [/\bAppleWebKit\/([\d.]+)/, "WebKit"],
];

/** @param {string} text what a browser sends as `User-Agent` @returns its engine with its version, or the text itself where it is unknown */
export function engineOf(text) {
  for (const [pattern, name] of ENGINES) {
    const version = pattern.exec(text)?.[1];
    if (version) return `${name} ${version}`;
  }
  return text;
}

/** The engine of this browser, with its version as exactly as it tells it. */
export async function thisEngine() {
  const data = await navigator.userAgentData?.getHighEntropyValues?.(["fullVersionList"]);
  const whole = data?.fullVersionList?.find(({ brand }) => brand === "Chromium");
  return whole ? `Chromium ${whole.version}` : engineOf(navigator.userAgent);
}
