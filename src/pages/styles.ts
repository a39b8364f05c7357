// The styles that all pages share: colours, type, and the components of more than one page. Pages
// load nothing.
//
// A `Stylesheet` is inline CSS with its hash for the content security policy: no other style
// applies.
export type Stylesheet = {
  readonly css: string;
  /** As a source in `style-src`. */
  readonly source: string;
};

/** The shared styles and a page's own. Made once for each kind of page. */
export function stylesheet(own = ''): Stylesheet {
  return styled(compact(SHARED + own));
}

/** This CSS alone, as it is. */
export function styled(css: string): Stylesheet {
  const hash = new Bun.CryptoHasher('sha256').update(css).digest('base64');
  return { css, source: `'sha256-${hash}'` };
}

/** Removes the indentation of the source. */
function compact(css: string): string {
  return css
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s*\n\s*/g, '\n')
    .trim();
}

const SHARED = `
  :root {
    color-scheme: light dark;
    --paper: #f5f3ee; --card: #fffefb; --ink: #1d1c1a; --muted: #625d55; --line: #dfdad0;
    --field: #fff; --field-line: #8b847a; --accent: #0e5c4a; --accent-over: #0a4a3b; --on-accent: #fff;
    --soft: #e4f0eb; --danger: #ad2018; --danger-soft: #fdecea; --warn: #6d4600; --warn-soft: #fff1cf; --warn-line: #e8cd8a;
    --shade: #3b332214; --shadow: 0 1px 2px #3b33220f, 0 12px 32px -12px #3b332233;
    --fill: var(--accent); --fill-over: var(--accent-over); --on-fill: var(--on-accent); --fill-line: transparent;
    --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace;
    font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
    -webkit-text-size-adjust: 100%;
  }
  @media (prefers-color-scheme: dark) {
    :root {
      --paper: #131513; --card: #1c1f1d; --ink: #efede8; --muted: #aaa79f; --line: #333834;
      --field: #141715; --field-line: #7b827d; --accent: #5ecfae; --accent-over: #7fe0c3; --on-accent: #05231a;
      --soft: #17312a; --danger: #ff9a91; --danger-soft: #3b1c1a; --warn: #ffd584; --warn-soft: #2f2510; --warn-line: #5d4a1c;
      --shade: #0005; --shadow: 0 1px 2px #0006, 0 16px 40px -16px #000a;
    }
  }
  *, ::before, ::after { box-sizing: border-box; }
  body { margin: 0; background: var(--paper); color: var(--ink); min-height: 100vh; min-height: 100dvh;
    display: flex; flex-direction: column; overflow-wrap: anywhere; }
  h1, h2, p, dl, dd, ul, fieldset, figure { margin: 0; padding: 0; border: 0; }
  h1 { font-size: 1.6rem; line-height: 1.2; letter-spacing: -.015em; font-weight: 650; text-wrap: balance; }
  h2 { font-size: 1.05rem; line-height: 1.3; font-weight: 650; }
  ul { list-style: none; }
  a { color: var(--accent); text-underline-offset: .18em; }
  a:hover { color: var(--accent-over); }
  :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .35rem; }
  [tabindex="-1"]:focus-visible { outline-width: 2px; }
  small, .muted { color: var(--muted); font-size: .9rem; }
  .money { font-variant-numeric: tabular-nums; white-space: nowrap; unicode-bidi: isolate; }
  .code { font-family: var(--mono); font-size: .86em; unicode-bidi: isolate; direction: ltr; }
  .away { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

  .page { flex: 1; width: 100%; max-width: 30rem; margin: 0 auto; padding: 1.25rem 1rem 2.5rem; }
  .foot { padding: 1rem; text-align: center; color: var(--muted); font-size: .85rem; }
  .stack > * + * { margin-top: 1rem; }

  .button { display: inline-flex; align-items: center; justify-content: center; min-height: 3rem; padding: .65rem 1.25rem;
    font: inherit; font-weight: 600; line-height: 1.25; text-align: center; text-decoration: none; cursor: pointer;
    color: var(--on-fill); background: var(--fill); border: 1px solid var(--fill-line); border-radius: .6rem; }
  .button:hover { color: var(--on-fill); background: var(--fill-over); }
  .button:active { transform: translateY(1px); }
  .button.wide { width: 100%; }
  .button.quiet { color: var(--ink); background: transparent; border-color: var(--field-line); }
  .button.quiet:hover { background: var(--soft); }

  .notice { padding: .8rem 1rem; border-radius: .6rem; background: var(--soft); border-inline-start: .25rem solid var(--accent); }
  .notice.bad { background: var(--danger-soft); border-color: var(--danger); }
  .notice.warn { background: var(--warn-soft); border-color: var(--warn); }
  .notice h2 + * { margin-top: .25rem; }

  .banner { background: var(--warn-soft); border-bottom: 1px solid var(--warn-line); color: var(--warn); font-size: .92rem; }
  .banner > * { max-width: 62rem; margin: 0 auto; padding: .6rem 1rem; }
  .banner summary { cursor: pointer; }

  .facts { display: grid; grid-template-columns: auto 1fr; gap: .45rem 1.25rem; align-items: baseline; }
  .facts dt { color: var(--muted); }
  .facts dd { text-align: end; }

  @media (prefers-reduced-motion: reduce) { *, ::before, ::after { animation: none !important; transition: none !important; } }
  @media (forced-colors: active) { .button { border-color: ButtonText; } }
`;
