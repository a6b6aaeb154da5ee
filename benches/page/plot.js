// A plot as SVG: uPlot makes the scales and chooses the ticks, and what it would draw on its canvas is written down.
import uPlot from "uplot";

const WIDTH = 760;
const HEIGHT = 400;
const LEGEND = 190;
/** Ours first and thick; the others told apart by hue and by dash. */
const STYLES = [
  ["#0b5fff", 3, ""],
  ["#111111", 1.6, ""],
  ["#b45309", 1.6, ""],
  ["#be185d", 1.6, "6 3"],
  ["#15803d", 1.6, "2 2"],
  ["#7c3aed", 1.6, "8 3 2 3"],
  ["#6b7280", 1.6, "4 4"],
];

const escape = (text) => String(text).replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
const round = (value) => Math.round(value * 10) / 10;

/**
 * Both scales are logarithmic.
 * @param {{ title: string, label: string, x: number[], series: { name: string, values: (number | null)[] }[] }} options
 * @returns {Promise<string>} the SVG
 */
export async function plot({ title, label, x, series }) {
  const host = document.createElement("div");
  document.body.append(host);
  const short = (_, values) => values.map((value) => (value === null ? "" : value.toLocaleString("en")));
  const chart = new uPlot(
    {
      width: WIDTH - LEGEND,
      height: HEIGHT - 30,
      pxAlign: 0,
      legend: { show: false },
      scales: { x: { time: false, distr: 3, log: 10 }, y: { distr: 3, log: 10 } },
      axes: [{ values: short }, { values: short, size: 70 }],
      series: [{}, ...series.map(({ name }) => ({ label: name }))],
    },
    [x, ...series.map(({ values }) => values)],
    host,
  );
  // It draws in the next microtask; what it has chosen is known then.
  await new Promise((resolve) => requestAnimationFrame(resolve));
  const ratio = devicePixelRatio;
  const [left, top, width, height] = ["left", "top", "width", "height"].map((side) => chart.bbox[side] / ratio);
  const atX = (value) => round(left + chart.valToPos(value, "x"));
  const atY = (value) => round(30 + top + chart.valToPos(value, "y"));
  const bottom = round(30 + top + height);
  const right = round(left + width);
  const ticks = chart.axes.map(({ _splits, _values }) => _splits.map((value, i) => [value, _values[i]]));

  const lines = [];
  for (const [value, text] of ticks[0]) {
    lines.push(`<path d="M${atX(value)} ${round(30 + top)}V${bottom}" stroke="#e5e7eb"/>`);
    if (text) lines.push(`<text x="${atX(value)}" y="${bottom + 16}" text-anchor="middle">${escape(text)}</text>`);
  }
  for (const [value, text] of ticks[1]) {
    lines.push(`<path d="M${round(left)} ${atY(value)}H${right}" stroke="#e5e7eb"/>`);
    if (text) lines.push(`<text x="${round(left) - 6}" y="${atY(value) + 4}" text-anchor="end">${escape(text)}</text>`);
  }
  series.forEach(({ name, values }, i) => {
    const [colour, thick, dash] = STYLES[i % STYLES.length];
    const points = values.flatMap((value, at) => (value === null || value <= 0 ? [] : [[atX(x[at]), atY(value)]]));
    const stroke = `stroke="${colour}" stroke-width="${thick}"${dash && ` stroke-dasharray="${dash}"`}`;
    lines.push(`<polyline points="${points.map((point) => point.join(",")).join(" ")}" fill="none" ${stroke}/>`);
    for (const [cx, cy] of points) lines.push(`<circle cx="${cx}" cy="${cy}" r="${thick}" fill="${colour}"/>`);
    const y = 52 + i * 20;
    lines.push(`<path d="M${WIDTH - LEGEND + 8} ${y}h28" ${stroke}/>`);
    lines.push(`<text x="${WIDTH - LEGEND + 42}" y="${y + 4}">${escape(name)}</text>`);
  });
  chart.destroy();
  host.remove();
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT + 20}" font-family="system-ui, sans-serif" font-size="12" fill="#111827">`,
    `<title>${escape(title)}</title>`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    `<text x="16" y="22" font-size="15" font-weight="600">${escape(title)}</text>`,
    ...lines,
    `<text x="${round((left + right) / 2)}" y="${bottom + 36}" text-anchor="middle">${escape(label)}</text>`,
    "</svg>\n",
  ].join("\n");
}
