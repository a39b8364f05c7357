// A page as its markup has it, without a browser. It reads what our pages are written in: a tag
// that is not closed, an attribute without quotes, or a `<` in a text is an error.

export type Element = {
  readonly tag: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: (Element | string)[];
  readonly parent: Element | null;
};

const TOKEN =
  /<!--[\s\S]*?-->|<!doctype[^>]*>|<\/(?<end>[a-z][\w-]*)\s*>|<(?<tag>[a-z][\w-]*)(?<attributes>(?:\s+[\w:-]+(?:="[^"]*")?)*)\s*(?<closed>\/?)>|(?<text>[^<]+)/giy;
const ATTRIBUTE = /([\w:-]+)(?:="([^"]*)")?/g;
const VOID = new Set(['br', 'hr', 'img', 'input', 'link', 'meta', 'col']);
/** Their content is no markup. */
const RAW = new Set(['script', 'style']);
/** No space is around them. */
const INLINE = /^(?:a|abbr|b|bdi|code|data|em|i|label|output|small|span|strong|sub|sup|time)$/;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: '\u00A0',
};

export function parse(text: string): Element {
  const root: Element = { tag: '', attributes: new Map(), children: [], parent: null };
  let open = root;
  const token = new RegExp(TOKEN);
  while (token.lastIndex < text.length) {
    const from = token.lastIndex;
    const groups = token.exec(text)?.groups;
    if (groups === undefined) throw new Error(`no markup: ${text.slice(from, from + 80)}`);
    const { end, tag, attributes = '', closed, text: said } = groups;
    if (said !== undefined) open.children.push(decoded(said));
    if (end !== undefined) {
      if (end !== open.tag) throw new Error(`</${end}> closes <${open.tag}>`);
      open = open.parent ?? root;
    }
    if (tag === undefined) continue;
    const element = { tag, attributes: attributesOf(attributes), children: [], parent: open };
    open.children.push(element);
    if (RAW.has(tag)) token.lastIndex = rawEnd(text, tag, token.lastIndex);
    else if (closed === '' && !VOID.has(tag)) open = element;
  }
  if (open !== root) throw new Error(`<${open.tag}> is not closed`);
  return root;
}

function rawEnd(text: string, tag: string, from: number): number {
  const end = `</${tag}>`;
  const at = text.indexOf(end, from);
  if (at < 0) throw new Error(`<${tag}> is not closed`);
  return at + end.length;
}

function attributesOf(text: string): ReadonlyMap<string, string> {
  return new Map(
    [...text.matchAll(ATTRIBUTE)].map(([, name = '', value = '']) => [name, decoded(value)]),
  );
}

function decoded(text: string): string {
  return text.replaceAll(/&(?:#(\d+)|(\w+));/g, (whole, digits?: string, name?: string) =>
    digits === undefined ? (ENTITIES[name ?? ''] ?? whole) : String.fromCodePoint(Number(digits)),
  );
}

/** All below it, in order, for which it is so. */
export function all(from: Element, isSo: (element: Element) => boolean): Element[] {
  const below = from.children.filter((child) => typeof child !== 'string');
  return below.flatMap((child) => [...(isSo(child) ? [child] : []), ...all(child, isSo)]);
}

export const tagged = (from: Element, ...tags: readonly string[]): Element[] =>
  all(from, ({ tag }) => tags.includes(tag));

/** What is read there, with single spaces; `isSpoken`: as its name is, for who does not see it. */
export function textOf(element: Element, { isSpoken = false } = {}): string {
  return squeezed(pieces(element, isSpoken).join(''));
}

export const squeezed = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

function pieces({ children }: Element, isSpoken: boolean): string[] {
  return children.flatMap((child) => {
    if (typeof child === 'string') return [child];
    if (isSpoken && child.attributes.get('aria-hidden') === 'true') return [];
    const around = INLINE.test(child.tag) ? '' : ' ';
    return [around, ...pieces(child, isSpoken), around];
  });
}

export function closest(from: Element, tag: string): Element | null {
  for (let at: Element | null = from; at !== null; at = at.parent) if (at.tag === tag) return at;
  return null;
}
