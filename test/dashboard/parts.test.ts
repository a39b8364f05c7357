// The parts of the dashboard's pages: whatever comes in, it comes out as text.
import { expect, test } from 'bun:test';
import { chart } from '../../src/dashboard/parts/chart.ts';
import { framed } from '../../src/dashboard/parts/frame.ts';
import { checkbox, field, form, select, textarea } from '../../src/dashboard/parts/forms.ts';
import { button, facts, heading, link, section } from '../../src/dashboard/parts/parts.ts';
import {
  filterField,
  filters,
  filterSelect,
  pager,
  table,
} from '../../src/dashboard/parts/tables.ts';
import { badge, code, day, instant, money, quantity } from '../../src/dashboard/parts/values.ts';
import { html } from '../../src/pages/html.ts';
import { placeAt } from './place.ts';

const HOSTILE = `"><script>alert(1)</script>'&`;

test("the dashboard's parts escape hostile texts, wherever they are", () => {
  const place = placeAt({
    organisation: { id: 'o', name: HOSTILE },
    user: { email: HOSTILE, name: HOSTILE, role: 'owner' },
    choices: [{ organisationId: 'other', organisationName: HOSTILE }],
    query: new URLSearchParams({ email: HOSTILE, after: HOSTILE }),
    typed: new URLSearchParams({ name: HOSTILE }),
    fault: { message: HOSTILE, issues: [{ field: 'name', message: HOSTILE }], requestId: HOSTILE },
  });
  const content = html`${heading(HOSTILE, { under: HOSTILE, actions: [button(place, '/x', HOSTILE)] })}
  ${filters([
    filterField(place, { name: 'email', label: HOSTILE }),
    filterSelect(place, {
      name: 'email',
      label: HOSTILE,
      options: [{ value: HOSTILE, label: HOSTILE }],
    }),
  ])}
  ${table({ caption: HOSTILE, columns: [HOSTILE], rows: [[HOSTILE], [code(HOSTILE)]], empty: HOSTILE })}
  ${table({ caption: '', columns: [], rows: [], empty: HOSTILE })}
  ${pager(place, { hasMore: true, last: HOSTILE })}
  ${section(HOSTILE, facts([[HOSTILE, HOSTILE]]), [link(place, '/y', HOSTILE)])}
  ${form(place, {
    to: '/z',
    submit: HOSTILE,
    hidden: { id: HOSTILE },
    fields: [
      field(place, { name: 'name', label: HOSTILE, hint: HOSTILE, placeholder: HOSTILE }),
      textarea(place, { name: 'text', label: HOSTILE, value: HOSTILE }),
      select(place, { name: 'one', label: HOSTILE, value: HOSTILE, options: [] }),
      checkbox(place, { name: 'tick', label: HOSTILE, hint: HOSTILE }),
    ],
  })}
  ${badge(HOSTILE)}
  ${chart({ title: HOSTILE, unit: HOSTILE, bars: [{ label: HOSTILE, height: 1, text: HOSTILE }] })}`;
  const page = framed(place, { title: HOSTILE, section: 'home', content, notice: HOSTILE });
  const scripts = page.text.match(/<script/g) ?? [];
  expect(scripts).toHaveLength(1);
  expect(page.text).not.toContain(HOSTILE);
});

test('a refused form shows what was typed, with the error beside it', () => {
  const place = placeAt({
    typed: new URLSearchParams({ amount: '12.x' }),
    fault: {
      message: 'no',
      issues: [{ field: 'amount', message: 'is no amount' }],
      requestId: null,
    },
  });
  const shown = field(place, { name: 'amount', label: 'Amount', value: '1.00' }).text;
  expect(shown).toContain('value="12.x"');
  expect(shown).toContain('aria-invalid="true"');
  expect(shown).toContain('is no amount');
  const box = (isChecked: boolean, typed: Record<string, string>) =>
    checkbox(placeAt({ typed: new URLSearchParams(typed) }), {
      name: 'all',
      label: 'All',
      isChecked,
    });
  expect(box(true, {}).text).toContain('checked');
  // A box that was cleared is not sent.
  expect(box(true, { amount: '1' }).text).not.toContain(' checked');
});

// prettier-ignore
const SHOWN: [string, string][] = [
  [money('12.50', 'USD').text,    '<span class="money">$12.50</span>'],
  [money('-1234', 'JPY').text,    '<span class="money">−¥1,234</span>'],
  [quantity('1234567.25'),        '1,234,567.25'],
  [quantity(null),                'unlimited'],
];

test.each(SHOWN)('a part of the dashboard shows %s', (shown, expected) =>
  expect(shown).toBe(expected),
);

test('the dashboard shows a time in the zone of the organisation', () => {
  const iso = '2026-03-28T23:30:00.000Z';
  const place = { zone: 'Europe/Berlin' };
  expect(instant(place, iso)?.text).toContain('29 Mar 2026, 00:30:00');
  expect(day(place, iso)?.text).toContain('29 Mar 2026');
  expect(instant(place, null)).toBeNull();
});
