// The frame of every page: one response, no script but in a merchant's frame (embed/frame.ts),
// nothing loaded from anywhere.
import { Html, html } from './html.ts';
import type { Stylesheet } from './styles.ts';

/** A script of ours, and its hash as a source in `script-src`. */
export type Script = { readonly text: string; readonly source: string };

/**
 * A page as it leaves: its text, and the one style, and the script if any, that its content
 * security policy has to allow.
 */
export type Page = {
  readonly text: string;
  readonly stylesheet: Stylesheet;
  readonly script: Script | null;
};

export type Layout = {
  /** Of the tab. */
  readonly title: string;
  /** What stands in `body`. */
  readonly body: Html;
  readonly stylesheet: Stylesheet;
  readonly script?: Script | null;
};

/** An empty icon: without one a browser asks the server for it. */
const ICON = 'data:,';

export function layout({ title, body, stylesheet, script = null }: Layout): Page {
  // The one style element: nothing in it comes from outside, and escaping it would change it.
  const style = new Html(`<style>${stylesheet.css}</style>`);
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="${ICON}" />
        ${style}
      </head>
      <body>
        ${body} ${script === null ? null : new Html(`<script>${script.text}</script>`)}
      </body>
    </html>`;
  return { text: page.text, stylesheet, script };
}
