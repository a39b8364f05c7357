// What is planted: each operator makes one small change that the tests of a rule should see.
// Left alone: types, strings, assertions (they check the code as a test does), errors and logs.
import { type Expression, parseSync, Visitor } from 'oxc-parser';

type Span = { readonly start: number; readonly end: number };

/** Replaces the text of `at`; `around` is the expression that contains it. */
export type Change = { readonly at: Span; readonly becomes: string; readonly around: Span };

const BINARY: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
};
const LOGICAL: Readonly<Record<string, readonly string[]>> = { '&&': ['||'], '||': ['&&'] };
const ASSIGNED: Readonly<Record<string, readonly string[]>> = { '+=': ['-='], '-=': ['+='] };
const METHODS: Readonly<Record<string, string>> = {
  min: 'max',
  max: 'min',
  some: 'every',
  every: 'some',
};
/** A larger number is a chosen bound or duration. */
const LITERAL_MAX = 100;

const SILENT_CALL = /^(?:assert\w*|unreachable|super)$|\blog\.\w+$/;

export function changesIn(path: string, text: string): readonly Change[] {
  const { program, errors } = parseSync(path, text);
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`);
  const found: Change[] = [];
  const silent: Span[] = [];
  const sourceOf = ({ start, end }: Span): string => text.slice(start, end);
  const plant = (around: Span, becomes: string, at: Span = around): void => {
    found.push({ at, becomes, around });
  };
  const swap = (
    around: Span & { left: Span; right: Span; operator: string },
    table: Readonly<Record<string, readonly string[]>>,
  ): void => {
    const { left, right, operator } = around;
    const start = text.indexOf(operator, left.end);
    const at = { start, end: start + operator.length };
    if (start < right.start) for (const other of table[operator] ?? []) plant(around, other, at);
  };
  const decide = (test: Span | null, ways: readonly boolean[]): void => {
    if (test !== null) for (const way of ways) plant(test, String(way));
  };
  new Visitor({
    BinaryExpression(node) {
      const isText = [node.left, node.right].some((side) => isString(side));
      if (node.operator !== '+' || !isText) swap(node, BINARY);
    },
    LogicalExpression: (node) => swap(node, LOGICAL),
    AssignmentExpression: (node) => swap(node, ASSIGNED),
    UnaryExpression({ operator, argument, ...node }) {
      if (operator === '!' || operator === '-') plant(node, sourceOf(argument));
    },
    IfStatement: ({ test }) => decide(test, [true, false]),
    ConditionalExpression: ({ test }) => decide(test, [true, false]),
    // Not to true: that would only show that an endless loop is noticed.
    WhileStatement: ({ test }) => decide(test, [false]),
    ForStatement: ({ test }) => decide(test, [false]),
    Literal(node) {
      const { value } = node;
      if (typeof value === 'boolean') plant(node, String(!value));
      if (typeof value === 'number' && value <= LITERAL_MAX) plant(node, String(value + 1));
      if (typeof value === 'bigint' && value <= LITERAL_MAX) plant(node, `${value + 1n}n`);
    },
    ArrayExpression({ elements, ...node }) {
      for (const [index, element] of elements.entries()) {
        const next = elements[index + 1];
        const last = elements[index - 1];
        if (!element) continue;
        const { start, end } = element;
        if (next) plant(node, '', { start, end: next.start });
        else plant(node, '', { start: last?.end ?? start, end });
      }
    },
    MemberExpression(node) {
      if (!node.optional) return;
      const start = text.indexOf('?.', node.object.end);
      plant(node, node.computed ? '' : '.', { start, end: start + 2 });
    },
    CallExpression(node) {
      const { callee } = node;
      if (SILENT_CALL.test(sourceOf(callee))) silent.push(node);
      if (callee.type !== 'MemberExpression' || callee.computed) return;
      const other = METHODS[sourceOf(callee.property)];
      if (other !== undefined) plant(node, other, callee.property);
    },
    ExpressionStatement: (node) => plant(node, ';'),
    BreakStatement: (node) => plant(node, ';'),
    ContinueStatement: (node) => plant(node, ';'),
    ThrowStatement: (node) => void silent.push(node),
    TSLiteralType: (node) => void silent.push(node),
    // A closed union: the compiler finds a missing member.
    TSAsExpression(node) {
      if (sourceOf(node.typeAnnotation) === 'const' && isStrings(node.expression))
        silent.push(node);
    },
  }).visit(program);
  const isHeard = ({ around }: Change): boolean =>
    !silent.some(({ start, end }) => start <= around.start && around.end <= end + 1);
  return found.filter(isHeard).toSorted((a, b) => a.at.start - b.at.start);
}

function isStrings(node: Expression): boolean {
  return node.type === 'ArrayExpression' && node.elements.every((one) => one && isString(one));
}

function isString({ type, ...node }: { readonly type: string }): boolean {
  if (type === 'TemplateLiteral') return true;
  return type === 'Literal' && 'value' in node && typeof node.value === 'string';
}
