import { clock, grouped } from "./format";
import type { Difference } from "./differences";
import type { Version } from "./versions";

const DID = { ADDED: "created", MODIFIED: "changed", DELETED: "deleted" };
const LONGEST = 120;

interface Props {
  versions: readonly Version[];
  /** The oldest version that the window reached, and when that was. */
  from: string | undefined;
  since: number | undefined;
}

/** Version by version: each field that changed, what it was and what it is. */
export function Versions({ versions, from, since }: Props) {
  return (
    <>
      <ol className="versions">
        {versions.map(({ resourceVersion, type, at, changes }) => (
          <li key={resourceVersion} data-testid="version-entry" data-version={resourceVersion}>
            <p>
              {at !== undefined && <time>{clock(at)}</time>} {DID[type]} <span className="none">by version {grouped(resourceVersion)}</span>
            </p>
            {changes ? (
              changes.map((change) => <Change key={change.path} {...change} />)
            ) : (
              <p className="none">what it was before is no longer held</p>
            )}
          </li>
        ))}
      </ol>
      {from !== undefined && (
        <p className="none">
          {versions.length === 0 && "nothing "}since version {grouped(from)}
          {since !== undefined && `, ${clock(since)}`}: so far back the event window reached
        </p>
      )}
    </>
  );
}

function Change({ path, before, after }: Difference) {
  return (
    <div className="change">
      <code className="path">{path}</code>
      <code>
        {before !== undefined && <del>{text(before)}</del>}
        <span aria-label="is now"> → </span>
        {after === undefined ? <span className="none">gone</span> : <ins>{text(after)}</ins>}
      </code>
    </div>
  );
}

function text(value: unknown): string {
  const whole = typeof value === "string" ? value : JSON.stringify(value);
  return whole.length > LONGEST ? `${whole.slice(0, LONGEST)}…` : whole;
}
