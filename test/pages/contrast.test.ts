// The colours of the shared styles: what is read on what, in light and in dark.
import { describe, expect, test } from 'bun:test';
import { stylesheet } from '../../src/pages/styles.ts';

describe("the contrast of the pages' colours", () => {
  const { css } = stylesheet();
  const schemes = [...css.matchAll(/:root \{([^}]*)\}/g)].map(([, block = '']) =>
    Object.fromEntries(
      [...block.matchAll(/--([\w-]+): (#[0-9a-f]{3,6});/g)].map(([, name, value]) => [
        name,
        value!,
      ]),
    ),
  );

  test('is defined for light and for dark', () => expect(schemes).toHaveLength(2));

  // Text needs 4.5, the edge of a field 3 (WCAG 1.4.3, 1.4.11).
  test.each([
    ['ink', 'paper', 4.5],
    ['ink', 'card', 4.5],
    ['ink', 'field', 4.5],
    ['ink', 'soft', 4.5],
    ['ink', 'danger-soft', 4.5],
    ['ink', 'warn-soft', 4.5],
    ['muted', 'paper', 4.5],
    ['muted', 'card', 4.5],
    ['accent', 'paper', 4.5],
    ['accent', 'card', 4.5],
    ['on-accent', 'accent', 4.5],
    ['on-accent', 'accent-over', 4.5],
    ['danger', 'paper', 4.5],
    ['danger', 'card', 4.5],
    ['danger', 'danger-soft', 4.5],
    ['card', 'danger', 4.5],
    ['warn', 'card', 4.5],
    ['warn', 'warn-soft', 4.5],
    ['field-line', 'paper', 3],
    ['field-line', 'card', 3],
    ['field-line', 'field', 3],
  ])('is enough for %s on %s', (over, under, least) => {
    for (const scheme of schemes) {
      const ratio = contrast(scheme[over] ?? '', scheme[under] ?? '');
      expect(ratio).toBeGreaterThanOrEqual(least);
    }
  });
});

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

function luminance(color: string): number {
  const hex = color.length === 4 ? color.replaceAll(/[0-9a-f]/g, '$&$&') : color;
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return channel <= 0.040_45 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}
