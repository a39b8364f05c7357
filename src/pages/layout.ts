// The layout of every page: one response, nothing loaded but a merchant's logo (brand.ts), and no
// script but in a merchant's frame (embed/frame.ts) and in the dashboard
// (src/dashboard/parts/live.ts, src/dashboard/parts/preview-script.ts).
import { type Brand, brandSheet } from './brand.ts';
import { Html, html } from './html.ts';
import type { Stylesheet } from './styles.ts';

/** A script, its hash as a source in `script-src`, and whether it asks this server for anything. */
export type Script = { readonly text: string; readonly source: string; readonly asks?: true };

/**
 * A rendered page: its text, and the styles, the images and the script, if any, that its content
 * security policy allows.
 */
export type Page = {
  readonly text: string;
  readonly stylesheets: readonly Stylesheet[];
  /** Their addresses. */
  readonly images: readonly string[];
  readonly script: Script | null;
};

export type Layout = {
  /** The title of the tab. */
  readonly title: string;
  /** The content of `body`. */
  readonly body: Html;
  readonly stylesheet: Stylesheet;
  readonly script?: Script | null;
  /** Whose page it is; ours where it is left out. */
  readonly brand?: Brand;
  /** A selector of ours: the part that has its look, where it is not all of the page. */
  readonly brandOn?: string;
};

/** An empty icon: without one a browser requests it from the server. */
const ICON = 'data:,';

export function layout(of: Layout): Page {
  const { title, body, stylesheet, script = null, brand = null, brandOn } = of;
  const own = brand === null ? null : brandSheet(brand, brandOn);
  const stylesheets = own === null ? [stylesheet] : [stylesheet, own];
  // No style has text of a merchant in it, and escaping would change it.
  const styles = stylesheets.map(({ css }) => new Html(`<style>${css}</style>`));
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="${ICON}" />
        ${styles}
      </head>
      <body>
        ${body} ${script === null ? null : new Html(`<script>${script.text}</script>`)}
      </body>
    </html>`;
  const images = brand === null || brand.logo === null ? [] : [brand.logo.url];
  return { text: page.text, stylesheets, images, script };
}
