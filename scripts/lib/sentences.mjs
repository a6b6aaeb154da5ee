// The sentences and paragraphs of comments and of Markdown, to find those that are too long to be read at once.
export const MAX_WORDS = 25;
export const MAX_PARAGRAPH_WORDS = 100;

/** Files whose comments begin with `#`. */
const HASHED = /(\.(sh|toml)|\/run)$/;
const MARKS = /^\s*(\/\/[/!]?|\/\*\*?|\*(?!\/))(?:(\s+)(.*?))?(?:\s*\*\/)?$/;
const HASHES = /^\s*(#)(?:(\s+)(.*?))?$/;

/** @returns the paragraphs of a source's comments as `{ line, text }`; comments behind code are left out */
function ofComments(source, marks) {
  const found = [];
  let block = null;
  let fenced = false;
  source.split("\n").forEach((text, index) => {
    const [, mark, space, body] = marks.exec(text) ?? [];
    // A `*` begins a line of a comment only inside of one: elsewhere it may be code.
    if (mark === undefined || (mark === "*" && block === null)) {
      block = null;
      fenced = false;
      return;
    }
    const kind = /^(\/\/|#)/.test(mark) ? mark : "*";
    const line = body ?? "";
    const fence = line.startsWith("```");
    if (fence) fenced = !fenced;
    // What is indented goes on with an item of a list. Elsewhere it is an example or an option, and stands alone.
    const alone = !block?.item && /^(\s{2,}|\t)$/.test(space ?? "");
    const begins = alone || block?.alone || /^(|[-#@|].*|\d+\. .*)$/.test(line);
    const next = block?.kind === kind && !mark.startsWith("/*") && !fence && !begins && !block.closed;
    const prose = !fence && !fenced && !line.startsWith("|");
    if (next && !fenced) block.text += ` ${line}`;
    else {
      const item = !alone && /^(- |@|\d+\. )/.test(line);
      found.push((block = { kind, line: index + 1, text: prose ? line : "", closed: line === "" || fence || fenced, item, alone }));
    }
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

/** The types of JSDoc, `@param {…}`, are code as well. */
function withoutTypes(text) {
  for (let from = text.search(/@\w+ \{/); from >= 0; from = text.search(/@\w+ \{/)) {
    const open = text.indexOf("{", from);
    let end = open;
    for (let depth = 0; end < text.length; end++) {
      depth += { "{": 1, "}": -1 }[text[end]] ?? 0;
      if (depth === 0) break;
    }
    text = text.slice(0, open) + text.slice(end + 1).trimStart();
  }
  return text;
}

function paragraphs(file, source) {
  const found = file.endsWith(".md") ? ofMarkdown(source) : ofComments(source, HASHED.test(file) ? HASHES : MARKS);
  return found.map(({ line, text }) => ({ line, text: withoutTypes(text).replace(/`[^`]*`/g, "`code`") }));
}

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
