// Compares what docs/spec names in code spans with the OpenAPI document, in both directions.
import type { OpenApi } from '../../src/http/openapi/openapi.ts';

type Named = {
  /** Path → text. */
  readonly spec: ReadonlyMap<string, string>;
  readonly document: OpenApi;
  /** The text of src/variables.ts. */
  readonly variables: string;
};

const CODE_SPAN = /`([^`]+)`/g;
const FENCED = /^```[\s\S]*?^```/gm;
const OPERATION = /\b(GET|POST|PUT|PATCH|DELETE) (\/[\w./{}-]*)/g;
const DOTTED = /\b([a-z_]+)\.([a-z_]+)\b/g;
/** Fields (two words or more) and variables: one word could be anything. */
const IDENTIFIER = /\b[a-z][a-z\d]*(?:_[a-z\d]+)+\b|\b[a-z]+[A-Z]\w+\b|\b[A-Z]+(?:_[A-Z]+)+\b/g;
/** Of the embedded checkout, of the sandbox and of HTML: not of the document. */
const ELSEWHERE = new Set(['onReady', 'onPaid', 'onCanceled', 'svc_test_', 'svc_live_']);

/** What one side names and the other does not, a line each. */
export function specFaults({ spec, document, variables }: Named): string[] {
  const operations = new Set(operationsOf(document));
  const events = Object.keys(document.webhooks);
  const families = new Set(events.map((type) => type.split('.')[0]));
  const codes = errorTypesOf(document);
  const known = new Set([...wordsOf(JSON.stringify(document)), ...wordsOf(variables)]);
  const named = new Set<string>();
  const faults: string[] = [];

  for (const [path, text] of spec) {
    for (const span of spansOf(text)) {
      const unknown = (name: string) => faults.push(`${path}: ${name} does not exist`);
      for (const [, method = '', route = ''] of span.matchAll(OPERATION)) {
        const operation = `${method} ${route}`;
        named.add(operation);
        if (!operations.has(operation)) unknown(operation);
      }
      for (const [dotted, family, last] of span.matchAll(DOTTED)) {
        if (!families.has(family) || last === 'md' || last === 'csv') continue;
        named.add(dotted);
        if (!events.includes(dotted)) unknown(dotted);
      }
      if (codes.includes(span)) named.add(span);
      if (span.includes('/') && !span.includes(' ')) continue;
      for (const [word] of span.matchAll(IDENTIFIER)) {
        if (!known.has(word) && !ELSEWHERE.has(word)) unknown(word);
      }
    }
  }
  for (const name of [...operations, ...events, ...codes]) {
    if (!named.has(name)) faults.push(`${name} is not named in docs/spec`);
  }
  return faults;
}

function spansOf(text: string): string[] {
  const prose = text.replace(FENCED, '');
  return [...prose.matchAll(CODE_SPAN)].map(([, span = '']) => span.replaceAll(/\s+/g, ' '));
}

function operationsOf({ paths }: OpenApi): string[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

function errorTypesOf({ components }: OpenApi): string[] {
  const { enum: types } = components.schemas['ErrorType'] as { readonly enum: readonly string[] };
  return [...types];
}

function wordsOf(text: string): string[] {
  return text.match(/\w+/g) ?? [];
}
