/** The styles of pages with a form. */
export const FORM_STYLE = `
  legend { padding: 0; font-weight: 650; font-size: 1.15rem; margin-bottom: .75rem; }
  legend + * { margin-top: 0 !important; }
  fieldset + fieldset { margin-top: 2rem; }
  label, .label { display: block; font-weight: 550; font-size: .95rem; margin-bottom: .3rem; }
  .hint { display: block; margin-bottom: .35rem; }
  .error { color: var(--danger); font-size: .92rem; font-weight: 550; margin-bottom: .35rem; }
  input:not([type="radio"]), select { width: 100%; min-height: 3rem; padding: .55rem .8rem; font: inherit; color: var(--ink);
    background: var(--field); border: 1px solid var(--field-line); border-radius: .6rem; }
  ::placeholder { color: var(--muted); opacity: .8; }
  input[aria-invalid="true"] { border-color: var(--danger); box-shadow: inset 0 0 0 1px var(--danger); }
  input[readonly] { background: transparent; border-style: dashed; color: var(--muted); }
  input[dir="ltr"] { font-variant-numeric: tabular-nums; }
  .pair { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem; align-items: end; }

  .method { border: 1px solid var(--field-line); background: var(--card); }
  .method:first-of-type { border-radius: .8rem .8rem 0 0; }
  .method:last-of-type { border-radius: 0 0 .8rem .8rem; border-top: 0; }
  .choice { display: flex; align-items: center; gap: .7rem; padding: .85rem 1rem; margin: 0; cursor: pointer; }
  .choice input { width: 1.2rem; height: 1.2rem; margin: 0; accent-color: var(--accent); }
  .panel { padding: .25rem 1rem 1.1rem; }
  @supports selector(:has(*)) { .method:not(:has(:checked)) .panel { display: none; } }

  .notice ul { margin-top: .25rem; }
  .notice.bad:focus-visible { outline-color: var(--danger); }
  .notice.warn:focus-visible { outline-color: var(--warn); }
  .notice.bad a { color: var(--danger); }
`;
