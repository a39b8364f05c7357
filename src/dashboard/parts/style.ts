import { BRAND_STYLE } from '../../pages/brand.ts';
import { TICKET_STYLE } from '../../pages/checkout/style.ts';
import { SOLD_STYLE } from '../../pages/sold-usage.ts';
import { stylesheet } from '../../pages/styles.ts';

/** The dashboard's own styles: the bar, the sections, tables, charts, forms. */
export const DASHBOARD_STYLE = stylesheet(`${TICKET_STYLE}${SOLD_STYLE}${BRAND_STYLE}
  .skip { position: absolute; inset-inline-start: .5rem; top: -4rem; z-index: 2; }
  .skip:focus { top: .5rem; }
  .mode { font-weight: 650; text-align: center; padding: .3rem 1rem; font-size: .9rem; }
  .mode.test { color: var(--warn); background: repeating-linear-gradient(-45deg, var(--warn-soft) 0 .9rem, var(--warn-line) .9rem 1rem); }
  .mode.live { color: var(--on-accent); background: var(--accent); }
  .mode a { color: inherit; }
  .top { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.25rem; padding: .6rem 1rem; border-bottom: 1px solid var(--line); background: var(--card); }
  .top .name { font-weight: 650; margin-inline-end: auto; }
  .top form { display: inline; }
  .top .button { min-height: 2.4rem; padding: .3rem .8rem; font-size: .92rem; }
  .board { flex: 1; display: grid; grid-template-columns: 13rem minmax(0, 1fr); width: 100%; max-width: 84rem; margin: 0 auto; }
  .sections { padding: 1rem .5rem; border-inline-end: 1px solid var(--line); }
  .sections a { display: block; padding: .5rem .75rem; border-radius: .5rem; color: var(--ink); text-decoration: none; }
  .sections a:hover { background: var(--soft); }
  .sections a[aria-current] { background: var(--soft); color: var(--accent); font-weight: 650; }
  .board main { padding: 1.25rem 1rem 3rem; min-width: 0; }
  @media (max-width: 48rem) {
    .board { grid-template-columns: minmax(0, 1fr); grid-template-rows: auto 1fr; }
    .sections { padding: .25rem .5rem; border-inline-end: 0; border-bottom: 1px solid var(--line); overflow-x: auto; }
    .sections ul { display: flex; }
    .sections a { white-space: nowrap; }
  }

  .part { margin-top: 2rem; }
  .part > h2, .part > .lead { margin-bottom: .75rem; }
  .lead { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: .5rem 1rem; }
  .head { margin-bottom: 1.25rem; }
  .actions { display: flex; flex-wrap: wrap; gap: .5rem; }
  .actions .button, .filters .button, .pager .button { min-height: 2.5rem; padding: .35rem .9rem; font-size: .95rem; }
  .actions .button[aria-current] { color: var(--accent); border-color: var(--accent); }
  .button.grave { background: var(--danger); color: var(--card); }
  .button.grave:hover { background: var(--ink); color: var(--paper); }
  .notice { margin-bottom: 1.25rem; }
  .notice.bad a { color: var(--danger); }

  .scroll { position: relative; overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .8rem; }
  table { border-collapse: collapse; width: 100%; font-size: .94rem; }
  th, td { text-align: start; padding: .55rem .8rem; vertical-align: baseline; overflow-wrap: normal; }
  td { max-width: 24rem; overflow-wrap: break-word; min-width: 5rem; }
  th { color: var(--muted); font-weight: 600; font-size: .86rem; white-space: nowrap; border-bottom: 1px solid var(--line); }
  tr + tr td { border-top: 1px solid var(--line); }
  td .actions { flex-wrap: nowrap; }
  .number { text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap; }
  time, .whole { white-space: nowrap; }
  .empty { color: var(--muted); padding: 1.25rem; background: var(--card); border: 1px dashed var(--line); border-radius: .8rem; }
  .pager { display: flex; gap: .5rem; margin-top: 1rem; }
  .filters { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin-bottom: 1.25rem; }
  .filters .field { flex: 1 1 12rem; max-width: 22rem; }

  .cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 1rem; }
  .card { background: var(--card); border: 1px solid var(--line); border-radius: .9rem; padding: 1rem 1.1rem; }
  .card .big { font-size: 1.5rem; font-weight: 650; font-variant-numeric: tabular-nums; }
  .facts { grid-template-columns: minmax(8rem, auto) 1fr; }
  .facts dd { text-align: start; }
  .facts + .scroll, .facts + .empty, p + .scroll, .scroll + .scroll, form.stack + .button { margin-top: .75rem; }
  .badge { display: inline-block; padding: .05rem .6rem; border: 1px solid; border-radius: 2rem; font-size: .84rem; font-weight: 600; color: var(--accent); }
  td .badge { white-space: nowrap; }
  .badge.wait { color: var(--warn); }
  .badge.bad { color: var(--danger); }
  .badge.dead { color: var(--muted); }

  .previews { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1rem; }
  .sample { display: flex; flex-direction: column; align-items: start; gap: .75rem; padding: 1.25rem; background: var(--paper); border: 1px solid var(--line); border-radius: .9rem; }
  .sample .logo, .sample .notice { margin: 0; }
  .sample .card { width: 100%; }
  .sample .support { margin: 0; color: var(--muted); font-size: .85rem; }
  .tier { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: .5rem; }
  .parts { margin: .25rem 0 0; padding: 0; font-size: .9rem; color: var(--muted); }

  .chart { background: var(--card); border: 1px solid var(--line); border-radius: .9rem; padding: .8rem 1rem; }
  .chart svg { display: block; width: 100%; height: 8rem; margin: .5rem 0; border-bottom: 1px solid var(--line); }
  .chart rect { fill: var(--accent); }
  .chart polyline { fill: none; stroke: var(--muted); stroke-width: 1.5; stroke-dasharray: 4 3; vector-effect: non-scaling-stroke; }
  .chart figcaption { font-weight: 600; }
  .chart summary { color: var(--muted); cursor: pointer; font-size: .9rem; }

  .dunning svg { height: auto; border: 0; }
  .dunning line { stroke: var(--accent); stroke-width: 3; }
  .dunning line.closed { stroke: var(--danger); stroke-dasharray: 6 4; }
  .dunning circle { fill: var(--card); stroke: var(--accent); stroke-width: 3; }
  .dunning circle.block { fill: var(--danger); stroke: var(--danger); }
  .dunning circle.end { fill: var(--ink); stroke: var(--ink); }
  .steps { margin: 0; padding-inline-start: 1.25rem; }
  .ticks { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .3rem 1rem; }
  .ticks legend, .ticks > .hint, .ticks > .error { grid-column: 1 / -1; font-weight: 550; padding: 0; }
  .ticks > .hint { font-weight: 400; }

  label { display: block; font-weight: 550; font-size: .95rem; margin-bottom: .3rem; }
  .hint { display: block; margin-bottom: .35rem; }
  .error { color: var(--danger); font-size: .92rem; font-weight: 550; margin-bottom: .35rem; }
  input:not([type="checkbox"]):not([type="radio"]), select, textarea { width: 100%; min-height: 2.6rem; padding: .4rem .7rem; font: inherit; color: var(--ink);
    background: var(--field); border: 1px solid var(--field-line); border-radius: .5rem; }
  [aria-invalid="true"] { border-color: var(--danger); box-shadow: inset 0 0 0 1px var(--danger); }
  .tick { display: grid; grid-template-columns: auto 1fr; gap: 0 .6rem; align-items: baseline; }
  .tick input { width: 1.1rem; height: 1.1rem; accent-color: var(--accent); }
  .tick .hint { grid-column: 2; }
  .tick label { margin: 0; }
  main > form.stack, .part form.stack { max-width: 34rem; }
  .secret { padding: 1rem; background: var(--soft); border-radius: .6rem; font-family: var(--mono); }
  pre { overflow-x: auto; padding: .8rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .6rem; font: .86rem/1.45 var(--mono); }
  @media (forced-colors: active) { .chart rect { fill: Highlight; } .badge { border: 1px solid; } }
`);
