/**
 * Begins each command of the administration: as README teaches it, where only Node is installed.
 */
export const ADMIN_COMMAND = `npx bun@${Bun.version} run admin`;
