import { useId, type ReactNode, type RefObject } from "react";
import type { WatchCacheError } from "watchcache";
import { plural } from "./format";
import { mistake } from "./mistake";

/** One box: its text, and why that text is refused. */
export interface SelectorText {
  text: string;
  onText(text: string): void;
  error: WatchCacheError | undefined;
}

interface Props {
  label: SelectorText;
  field: SelectorText;
  total: number;
  filterBox: RefObject<HTMLInputElement | null>;
  children: ReactNode;
}

/** The two selector boxes. They filter while one types; a mistake is shown under its box and the rows stay. */
export function Toolbar({ label, field, total, filterBox, children }: Props) {
  return (
    <div className="toolbar" role="search">
      {children}
      <SelectorBox title="label" hint="e.g. tier=frontend,track in (stable,canary)" box={filterBox} {...label} />
      <SelectorBox title="field" hint="e.g. status.phase!=Running" {...field} />
      <output className="row-count" data-testid="row-count">
        {plural(total, "row")}
      </output>
    </div>
  );
}

function SelectorBox({
  title,
  hint,
  box,
  text,
  onText,
  error,
}: SelectorText & { title: string; hint: string; box?: RefObject<HTMLInputElement | null> }) {
  const id = useId();
  return (
    <div className="selector">
      <label htmlFor={id}>{title}</label>
      <input
        id={id}
        ref={box}
        name={`${title}-selector`}
        value={text}
        placeholder={hint}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
        aria-invalid={error !== undefined}
        aria-describedby={error && `${id}-error`}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
      />
      {error && <Mistake id={`${id}-error`} text={text} error={error} />}
    </div>
  );
}

/** The message, and the text with the place of the mistake marked. */
function Mistake({ id, text, error }: { id: string; text: string; error: WatchCacheError }) {
  const { before, wrong, after } = mistake(text, error);
  return (
    <div className="mistake" id={id} role="alert">
      <code>
        {before}
        <mark>{wrong}</mark>
        {after}
      </code>
      <span>{error.message}</span>
    </div>
  );
}
