// `import text from './x.sql' with { type: 'text' }` is a string in Bun.
declare module '*.sql' {
  const text: string;
  export default text;
}
