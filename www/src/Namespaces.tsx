import { grouped } from "./format";

interface Props {
  counts: ReadonlyMap<string, number>;
  total: number;
  chosen: string | undefined;
  onChoose(namespace: string | undefined): void;
}

/** All namespaces with live counts, beside the table. */
export function Namespaces({ chosen, onChoose, ...view }: Props) {
  return (
    <nav className="namespaces" aria-label="Namespaces">
      <h2>namespaces</h2>
      <ul>
        {choices(chosen, view).map(([name, count]) => (
          <li key={name ?? ""}>
            <button aria-current={name === chosen} data-namespace={name ?? ""} onClick={() => onChoose(name)}>
              <span className="name">{name ?? "all"}</span>
              <span className="number">{grouped(count)}</span>
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The same where there is no room beside the table. */
export function NamespaceSelect({ chosen, onChoose, ...view }: Props) {
  return (
    <label className="namespace-select">
      <span>namespace</span>
      <select name="namespace" value={chosen ?? ""} onChange={(event) => onChoose(event.target.value || undefined)}>
        {choices(chosen, view).map(([name, count]) => (
          <option key={name ?? ""} value={name ?? ""}>
            {name ?? "all"} ({grouped(count)})
          </option>
        ))}
      </select>
    </label>
  );
}

/** "all", then every namespace by name. The chosen one stays when its last pod goes. */
function choices(
  chosen: string | undefined,
  { counts, total }: Pick<Props, "counts" | "total">,
): [name: string | undefined, count: number][] {
  const names = new Set(counts.keys());
  if (chosen !== undefined) names.add(chosen);
  return [[undefined, total], ...[...names].sort().map((name): [string, number] => [name, counts.get(name) ?? 0])];
}
