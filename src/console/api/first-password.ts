import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Returns whether a password is the one generated for the administrator at the first start and stored in a file; the user is then asked to change it.
 * @param dataDir directory of the file
 */
export async function isFirstPassword(dataDir: string, appId: string, password: unknown): Promise<boolean> {
  try {
    const kept: unknown = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8'));
    const made = kept as { readonly appId?: unknown; readonly adminPassword?: unknown } | null;
    return made?.appId === appId && typeof password === 'string' && made.adminPassword === password;
  } catch {
    // The file was never created, or was deleted.
    return false;
  }
}
