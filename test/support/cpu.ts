/** What this process has computed until now, in milliseconds. It stands still while the machine is busy with something else. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
