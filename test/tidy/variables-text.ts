// The variables of the environment as text: .env.example, and the table in src/OPERATIONS.md.
import { BOUNDS } from '../../src/platform/bounds.ts';
import { CHAPTERS, type Variable } from '../../src/variables.ts';

type Chapter = { readonly title: string; readonly variables: Readonly<Record<string, Variable>> };

/** A range that ends above this is shown without its end. */
const NO_BOUND = 1_000_000;

const ALL: readonly Chapter[] = [
  ...CHAPTERS,
  {
    title: 'Bounds, in each mode; 0: any number, where no range is given',
    variables: Object.fromEntries(
      Object.values<(typeof BOUNDS)[keyof typeof BOUNDS] & { readonly atMost?: number }>(
        BOUNDS,
      ).map(({ variable, byDefault, atMost, whose, what }) => [
        variable,
        {
          byDefault,
          min: atMost === undefined ? 0 : 1,
          max: atMost ?? NO_BOUND,
          says: `${whose[0]!.toUpperCase()}${whose.slice(1)} has at most so many ${what}.`,
        },
      ]),
    ),
  },
];

export const NAMES: readonly string[] = ALL.flatMap(({ variables }) => Object.keys(variables));

export function exampleText(): string {
  const chapters = ALL.map(({ title, variables }) => {
    const lines = Object.entries(variables).map(
      ([name, variable]) =>
        `${comment(`${withoutMarks(variable.says)}${notes(variable)}`)}# ${name}=${valueOf(variable)}\n`,
    );
    return `# ---- ${title} ----\n\n${lines.join('\n')}`;
  });
  return `${comment(
    'Every variable of the environment with its default. Copy this to .env and take the # away where a value differs. ' +
      'What has no value here is not set by default. `bun run docs:config` writes this file from src/variables.ts.',
  )}\n${chapters.join('\n')}`;
}

export function tableText(): string {
  const chapters = ALL.map(({ title, variables }) => {
    const rows = Object.entries(variables).map(
      ([name, variable]) =>
        `| \`${name}\` | ${'unset' in variable ? variable.unset : `\`${variable.byDefault}\``} | ${variable.says}${rangeOf(variable)} |\n`,
    );
    return `**${title}**\n\n| variable | default | |\n| --- | --- | --- |\n${rows.join('')}`;
  });
  return `\n${chapters.join('\n')}\n`;
}

const valueOf = (variable: Variable): string =>
  'unset' in variable ? '' : String(variable.byDefault);

function notes(variable: Variable): string {
  if (!('unset' in variable)) return rangeOf(variable);
  return variable.unset === 'none' ? '' : ` Not set: ${withoutMarks(variable.unset)}.`;
}

function rangeOf(variable: Variable): string {
  if (!('min' in variable)) return '';
  const { min, max } = variable;
  if (max < NO_BOUND) return ` ${min} to ${max}.`;
  return min === 0 ? '' : ` At least ${min}.`;
}

const withoutMarks = (text: string): string => text.replaceAll('`', '');

/** As comment lines of at most 100 columns. */
function comment(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    if (`# ${lines.at(-1)} ${word}`.length > 100) lines.push(word);
    else lines.push(`${lines.pop()!} ${word}`.trimStart());
  }
  return lines.map((line) => `# ${line}\n`).join('');
}
