// The layout of every page: one response, nothing loaded, and no script but in a merchant's frame
// (embed/frame.ts) and in the dashboard (dashboard/live.ts).
import { Html, html } from './html.ts';
import type { Stylesheet } from './styles.ts';

/** A script, its hash as a source in `script-src`, and whether it asks this server for anything. */
export type Script = { readonly text: string; readonly source: string; readonly asks?: true };

/**
 * A rendered page: its text, and the style and the script, if any, that its content security policy
 * allows.
 */
export type Page = {
  readonly text: string;
  readonly stylesheet: Stylesheet;
  readonly script: Script | null;
};

export type Layout = {
  /** The title of the tab. */
  readonly title: string;
  /** The content of `body`. */
  readonly body: Html;
  readonly stylesheet: Stylesheet;
  readonly script?: Script | null;
};

/** An empty icon: without one a browser requests it from the server. */
const ICON = 'data:,';

export function layout({ title, body, stylesheet, script = null }: Layout): Page {
  // The style is constant, and escaping would change it.
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
