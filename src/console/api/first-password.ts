import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Whether a password is the one that the first start has made for the administrator, which is kept in a file (CONTRACT "Running"): he is asked
 * to choose another.
 * @param dataDir where the file is
 */
export async function isFirstPassword(dataDir: string, appId: string, password: unknown): Promise<boolean> {
  try {
    const kept: unknown = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8'));
    const made = kept as { readonly appId?: unknown; readonly adminPassword?: unknown } | null;
    return made?.appId === appId && typeof password === 'string' && made.adminPassword === password;
  } catch {
    // Removed, as it may be, or never made.
    return false;
  }
}
