// `tollhouse completion bash|zsh`.
import { command, EXIT } from '../command.ts';
import { completionOf, SHELLS } from '../completion.ts';
import type { Table } from '../parse.ts';

/** The table has this row too, so it is read when the command runs. */
export const completion = (table: () => Table) =>
  command({
    about: 'Print the completion for a shell',
    args: [{ name: 'SHELL', about: 'which one', choices: SHELLS }],
    options: {},
    notes: ['In ~/.bashrc or ~/.zshrc: source <(tollhouse completion bash)'],
    async run({ out }, { args: [shell] }) {
      await out.line(completionOf(table(), shell === 'zsh' ? 'zsh' : 'bash').trimEnd());
      return EXIT.ok;
    },
  });
