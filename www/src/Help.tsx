import type { Ref } from "react";

const KEYS: [keys: string[], does: string][] = [
  [["/"], "filter by label"],
  [["↓", "↑", "j", "k"], "next and previous row"],
  [["PgDn", "PgUp", "Home", "End"], "by the page, first, last"],
  [["Enter"], "open the pod: its changes, events and YAML"],
  [["t"], "time travel; then ← → by a version, PgUp PgDn by more"],
  [["Esc"], "close the pod, leave the filter or the past, close this"],
  [["?"], "this help"],
];

export function Help({ dialog }: { dialog: Ref<HTMLDialogElement> }) {
  return (
    <dialog ref={dialog} className="help" aria-labelledby="help-title">
      <h2 id="help-title">keyboard</h2>
      <dl>
        {KEYS.map(([keys, does]) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p>
        Label selectors: <code>app=web</code>, <code>tier in (a,b)</code>, <code>!canary</code>, joined by commas. Field selectors: any
        scalar path, as <code>status.phase!=Running</code> or <code>spec.nodeName=node-04</code>.
      </p>
      <form method="dialog">
        <button>close</button>
      </form>
    </dialog>
  );
}
