/** The summary of what is bought (summary.ts): the dashboard shows it, too. */
export const TICKET_STYLE = `
  /* Two parts with a dashed line and two notches between them, cut out so that whatever is behind shows through. */
  .ticket { filter: drop-shadow(0 1px 1px var(--shade)) drop-shadow(0 14px 20px var(--shade)); }
  .ticket > * { background: var(--card); padding: 1.5rem; --notch: #0000 .58rem, #000 .62rem; }
  .ticket .goods { border-radius: 1rem 1rem 0 0;
    mask: radial-gradient(circle at 0 100%, var(--notch)) 0 0 / 51% 100% no-repeat,
      radial-gradient(circle at 100% 100%, var(--notch)) 100% 0 / 51% 100% no-repeat; }
  .ticket .price { border-radius: 0 0 1rem 1rem;
    mask: radial-gradient(circle at 0 0, var(--notch)) 0 0 / 51% 100% no-repeat,
      radial-gradient(circle at 100% 0, var(--notch)) 100% 0 / 51% 100% no-repeat; }
  .ticket .price::before { content: ""; position: absolute; inset: 0 1.2rem auto; border-top: 2px dashed var(--line); }
  .ticket .price { position: relative; }
  .ticket .merchant { color: var(--accent); font-weight: 650; font-size: .92rem; margin-bottom: .35rem; }
  .ticket .description { color: var(--muted); margin-top: .5rem; white-space: pre-line; }
  .ticket .total { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: 0 1rem; }
  .ticket .total strong { font-size: 1.9rem; line-height: 1.2; letter-spacing: -.02em; font-weight: 650; }
  .ticket .then { margin-top: .35rem; color: var(--muted); font-size: .92rem; }
  .ticket .facts { margin-top: 1.25rem; font-size: .92rem; }
  .lines { display: grid; grid-template-columns: 1fr auto; gap: .3rem 1rem; margin-bottom: .9rem; }
  .lines dt { color: var(--muted); }
  .lines dd { text-align: end; }
  .ticket [dir="auto"] { display: block; }
`;

/**
 * What the checkout adds to the shared look: the ticket, the form beside it, and the marks of its
 * states.
 */
export const STYLE = `
  .page.open { max-width: 62rem; }
  .checkout { display: grid; gap: 1.75rem; position: relative; }
  .checkout > .notice { grid-column: 1 / -1; }
  @media (min-width: 54rem) {
    .page.open { padding-top: 3rem; }
    .checkout { grid-template-columns: minmax(0, 25rem) minmax(0, 1fr); gap: 4rem; align-items: start; }
    .bought { position: sticky; top: 2rem; }
  }

${TICKET_STYLE}  .choices { margin-top: 1.25rem; }
  .choices .field + .field { margin-top: 1rem; }
  .joined { display: flex; gap: .5rem; }
  .joined > :first-child { flex: 1; min-width: 0; }
  .chip { display: flex; align-items: center; flex-wrap: wrap; gap: .15rem .6rem; padding: .3rem .3rem .3rem .9rem;
    background: var(--soft); border-radius: 1.5rem; width: fit-content; max-width: 100%; }
  .chip button { display: grid; place-items: center; width: 2.25rem; height: 2.25rem; border: 0; border-radius: 50%; cursor: pointer;
    background: transparent; color: var(--ink); font: inherit; font-size: 1.25rem; line-height: 1; }
  .chip button:hover { background: var(--card); }

  .paying > .button { margin-top: 1.5rem; min-height: 3.4rem; font-size: 1.08rem; }
  .back { text-align: center; }
  .back [hidden] { display: none; }
  /* In a frame it is as high as what it holds: the page around makes room for that. */
  body:has(> [data-origins]) { min-height: 0; }
  .told { padding-top: 1rem; }
  .told > .ticket { margin-top: 2rem; }
  .told .ticket h2 { font-size: 1.25rem; }
  .state { text-align: center; text-wrap: balance; }
  .mark { width: 4rem; height: 4rem; fill: none; stroke-width: 3; stroke-linecap: round; stroke-linejoin: round; }
  .mark circle { fill: var(--soft); stroke: none; }
  .mark.done { stroke: var(--accent); }
  .mark.wait { stroke: var(--accent); }
  .mark.closed { stroke: var(--muted); }
  .mark.closed circle { fill: var(--line); }

  .banner .code { white-space: nowrap; }
  .numbers { display: grid; gap: .75rem 2.5rem; padding: .75rem 0 .25rem; }
  .numbers table { border-collapse: collapse; text-align: start; align-self: start; justify-self: start; }
  .numbers caption { text-align: start; font-weight: 600; padding-bottom: .25rem; }
  .numbers th { text-align: start; font-weight: 500; padding: .2rem 1rem .2rem 0; user-select: all; vertical-align: baseline; }
  .numbers td { padding: .2rem 0; vertical-align: baseline; }
  @media (min-width: 54rem) { .numbers { grid-template-columns: auto 1fr; } }
`;
