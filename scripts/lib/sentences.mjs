// The sentences and paragraphs of comments and of Markdown, to find those that are too long to be read at once.
export const MAX_WORDS = 25;
export const MAX_PARAGRAPH_WORDS = 100;

/** @returns the paragraphs of a source's comments (Rust and TypeScript) as `{ line, text }`; comments behind code are left out */
function ofComments(source) {
  const found = [];
  let block = null;
  let fenced = false;
  source.split("\n").forEach((text, index) => {
    const [, mark, body] = /^\s*(\/\/[/!]?|\/\*\*?|\*(?!\/))(?:\s+(.*?))?(?:\s*\*\/)?$/.exec(text) ?? [];
    // A `*` begins a line of a comment only inside of one: elsewhere it may be code.
    if (mark === undefined || (mark === "*" && block === null)) {
      block = null;
      fenced = false;
      return;
    }
    const kind = mark.startsWith("//") ? mark : "*";
    const line = body ?? "";
    const fence = line.startsWith("```");
    if (fence) fenced = !fenced;
    const next = block?.kind === kind && !mark.startsWith("/*") && !fence && !/^(|[-#@|].*|\d+\. .*)$/.test(line) && !block.closed;
    const prose = !fence && !fenced && !line.startsWith("|");
    if (next && !fenced) block.text += ` ${line}`;
    else found.push((block = { kind, line: index + 1, text: prose ? line : "", closed: line === "" || fence || fenced }));
  });
  return found;
}

/** @returns the paragraphs of a Markdown text as `{ line, text }`, without code, tables, and what scripts write between `<!-- NAME -->` marks */
function ofMarkdown(source) {
  const found = [];
  let block = null;
  let fenced = false;
  let written = null;
  source.split("\n").forEach((text, index) => {
    const fence = /^\s*```/.test(text);
    if (fence) fenced = !fenced;
    const mark = fenced ? undefined : /^<!-- (\/?[\w-]+) -->$/.exec(text)?.[1];
    if (written === null && mark !== undefined && source.includes(`\n<!-- /${mark} -->`)) written = mark;
    else if (mark === `/${written}`) written = null;
    if (written !== null) block = null;
    else if (fence || fenced || /^\s*($|\||<!--)/.test(text)) block = null;
    else if (block === null || /^\s*([-#*>] |#+ |\d+\. )/.test(text)) found.push((block = { line: index + 1, text }));
    else block.text += ` ${text.trim()}`;
  });
  return found;
}

const paragraphs = (file, source) =>
  (file.endsWith(".md") ? ofMarkdown(source) : ofComments(source)).map(({ line, text }) => ({
    line,
    text: text.replace(/`[^`]*`/g, "`code`"),
  }));

const wordsOf = (text) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/**
 * What ends a sentence. In documents a colon and a semicolon do so as well. In comments a colon does only before a list, whose items are
 * paragraphs of their own.
 */
const ENDS = { comments: /(?<=[.!?]["')\]*_]*)\s+/, documents: /(?<=[.!?:;]["')\]*_]*)\s+/ };

/** @returns the sentences of more than `MAX_WORDS` words as `{ line, words, text }`; code is one word */
export function longSentences(file, source) {
  const ends = file.endsWith(".md") ? ENDS.documents : ENDS.comments;
  return paragraphs(file, source).flatMap(({ line, text }) =>
    text
      .split(ends)
      .map((sentence) => ({ line, words: wordsOf(sentence), text: sentence }))
      .filter(({ words }) => words > MAX_WORDS),
  );
}

/** @returns the paragraphs and items of lists of more than `MAX_PARAGRAPH_WORDS` words as `{ line, words, text }`; code is one word */
export function longParagraphs(file, source) {
  return paragraphs(file, source)
    .map(({ line, text }) => ({ line, words: wordsOf(text), text }))
    .filter(({ words }) => words > MAX_PARAGRAPH_WORDS);
}
