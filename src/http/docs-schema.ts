// A schema as a table to read.
import { type Html, html } from '../pages/html.ts';

export type Schema = {
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly $ref?: string;
} & Readonly<Record<string, unknown>>;

/** Keywords that are shown as they are. */
const BOUNDS = [
  'format',
  'default',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'maxItems',
  'maxProperties',
];

export function fields(schema: Schema): Html {
  return html`<table>
    ${Object.entries(schema.properties ?? {}).map(([name, field]) => {
      const isRequired = schema.required?.includes(name) === true;
      const notes = [field.description?.replace(/\.$/, '') ?? '', ...bounds(field)].filter(
        (note) => note !== '',
      );
      return html`<tr>
        <td><code>${name}</code></td>
        <td>${typeOf(field)}</td>
        <td>${isRequired ? 'required' : 'optional'}</td>
        <td>${prose(notes.join('; '))}</td>
      </tr>`;
    })}
  </table>`;
}

/** One that fits, where the schema has one. */
export function example(schema: Schema): Html | null {
  const { examples } = schema;
  const shown: unknown = Array.isArray(examples) ? examples[0] : undefined;
  return shown === undefined ? null : html`<pre>${JSON.stringify(shown, null, 2)}</pre>`;
}

/** Text in which what stands between backticks is code. */
export function prose(text: string): readonly (string | Html)[] {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}

export function bounds(schema: Schema): string[] {
  return BOUNDS.filter((keyword) => keyword in schema).map(
    (keyword) => `${keyword} ${JSON.stringify(schema[keyword])}`,
  );
}

/** A type in a few words: `"sum" | "count"`, `string | null`, `{id: string}[]`. */
export function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? '';
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === 'array') return `${typeOf(schema.items ?? {})}[]`;
  if (typeof schema.additionalProperties === 'object') {
    return `object of ${typeOf(schema.additionalProperties)}s`;
  }
  if (schema.properties !== undefined) {
    const members = Object.entries(schema.properties).map(([name, field]) => {
      const mark = schema.required?.includes(name) === true ? '' : '?';
      return `${name}${mark}: ${typeOf(field)}`;
    });
    return `{${members.join(', ')}}`;
  }
  return schema.type ?? 'anything';
}
