// A QR code as SVG: one path, on white whatever the colours of the page are.
import { encode } from 'uqr';
import { type Html, html } from '../../pages/html.ts';

/** Modules of white around it, as the standard asks. */
const QUIET = 4;

export function qrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: QUIET });
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('');
  return html`<svg
    role="img"
    aria-label="${label}"
    viewBox="0 0 ${size} ${size}"
    width="220"
    height="220"
    shape-rendering="crispEdges"
  >
    <rect width="${size}" height="${size}" fill="#fff" />
    <path d="${path}" fill="#000" />
  </svg>`;
}
