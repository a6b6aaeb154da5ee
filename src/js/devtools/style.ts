/** How the panel looks, in light and dark. It says nothing of the page around it, and the page nothing of it. */
export const STYLE = `
:host { display: block; color-scheme: light dark; font: 12px/1.5 system-ui, sans-serif; color: CanvasText; background: Canvas;
  font-variant-numeric: tabular-nums; overflow: auto; }
:host([hidden]) { display: none; }
header, section { padding: 6px 10px; }
header { display: flex; gap: 16px; flex-wrap: wrap; border-bottom: 1px solid GrayText; }
h2 { font-size: inherit; margin: 0 0 4px; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: right; padding: 2px 8px; white-space: nowrap; }
th { font-weight: 600; }
th[scope="row"], th:first-child, td.phase, td.does { text-align: left; }
tbody tr { border-top: 1px solid color-mix(in srgb, GrayText 40%, transparent); }
td.phase[data-trouble] { font-weight: 700; }
button { font: inherit; margin-right: 4px; }
ol { list-style: none; margin: 0; padding: 0; max-height: 14em; overflow: auto; }
li { display: flex; gap: 8px; }
time { opacity: 0.7; }
p { margin: 0; }
`;
