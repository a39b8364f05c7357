/** The portal's own styles: cards of subscriptions, usage bars, the list of invoices. */
export const STYLE = `
  .page.portal { max-width: 46rem; padding-top: 2rem; }
  .portal > section { margin-top: 2.25rem; }
  .portal > section > h2 { margin-bottom: .75rem; font-size: 1.15rem; }
  .merchant { font-weight: 650; font-size: .95rem; margin-bottom: .25rem; }
  .merchant a { text-decoration: none; }
  .card { background: var(--card); border: 1px solid var(--line); border-radius: 1rem; padding: 1.25rem; box-shadow: var(--shadow); }
  .card + .card { margin-top: 1rem; }
  .card.over { background: transparent; box-shadow: none; }

  .lead { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: .35rem 1rem; }
  .lead h3 { margin: 0; font-size: 1.15rem; line-height: 1.3; font-weight: 650; }
  .card .cost { color: var(--muted); margin-top: .15rem; }
  .card .facts { margin-top: .9rem; }
  .badge { flex: none; padding: .1rem .65rem; border: 1px solid; border-radius: 2rem; font-size: .85rem; font-weight: 600; color: var(--accent); }
  .badge.wait { color: var(--warn); }
  .badge.bad { color: var(--danger); }
  .badge.dead { color: var(--muted); }
  .actions { display: flex; flex-wrap: wrap; gap: .6rem; margin-top: 1.1rem; }
  .actions .button { min-height: 2.75rem; padding: .45rem 1rem; font-size: .95rem; }
  .card > .notice { margin-top: .9rem; }

  .gauge + .gauge { margin-top: 1.1rem; }
  .gauge .lead { font-size: .95rem; }
  .gauge .lead > :first-child { font-weight: 600; }
  .bar { display: block; width: 100%; height: .6rem; margin: .4rem 0 .25rem; border-radius: .3rem; background: var(--line); overflow: hidden; }
  .bar rect { fill: var(--accent); }
  .bar.near rect { fill: var(--warn); }
  .bar.full rect { fill: var(--danger); }

  .invoices { padding: .35rem 1.25rem; }
  .invoices li { display: flex; flex-wrap: wrap; align-items: baseline; gap: .15rem 1rem; padding: .7rem 0; }
  .invoices li + li { border-top: 1px solid var(--line); }
  .invoices a { font-weight: 550; }
  .invoices .when { flex: 1; min-width: max-content; font-size: .92rem; white-space: nowrap; color: var(--muted); }
  .invoices .money { margin-inline-start: auto; }
  .stack > .option { margin-top: 1rem; }
  .banner .code { white-space: nowrap; }

  .options { display: grid; gap: .6rem; }
  .option { display: flex; gap: .8rem; align-items: baseline; margin: 0; padding: .9rem 1rem; cursor: pointer; font-weight: 400;
    background: var(--card); border: 1px solid var(--field-line); border-radius: .8rem; }
  .option strong { display: block; font-weight: 650; }
  .option input { flex: none; width: 1.15rem; height: 1.15rem; min-height: 0; margin: 0; accent-color: var(--accent); translate: 0 .15rem; }
  .will { padding: 1rem 1.25rem; background: var(--soft); border-radius: .8rem; }
  .will li + li { margin-top: .4rem; }
  .confirm { display: flex; flex-wrap: wrap; gap: .75rem; }
  .confirm .button { flex: 1; min-width: 12rem; }
  .button.grave { background: var(--danger); color: var(--card); }
  .button.grave:hover { background: var(--ink); color: var(--paper); }
  .state { text-align: center; padding-top: 3rem; text-wrap: balance; }
  @media (forced-colors: active) { .bar rect { fill: Highlight; } .bar { border: 1px solid; } }
`;
