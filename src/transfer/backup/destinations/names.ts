const form = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z[.]rdsb$/;

/** Returns the name of a backup made at an instant: `YYYYMMDDTHHMMSSZ.rdsb`, UTC. @param at milliseconds since 1970 */
export function backupName(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z.rdsb`;
}

export const isBackupName = (name: string): boolean => timeOfBackup(name) !== null;

/** Returns milliseconds since 1970; `null` for any other name. */
export function timeOfBackup(name: string): number | null {
  const found = form.exec(name);
  if (!found) return null;
  const [, year, month, day, hour, minute, second] = found;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? null : at;
}
