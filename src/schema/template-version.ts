import type { Schema } from './model.ts';

/** The service's own tables now match this version of the template (systems/migrations). The only change that concerns no table. */
export interface TemplateVersionChange {
  readonly kind: 'setTemplateVersion';
  readonly version: number;
  /** `Schema.requiredVersion`, which never falls; left out: the same. */
  readonly required?: number;
}

type Versions = Pick<Schema, 'templateVersion' | 'requiredVersion'>;

/** Returns the versions of a schema alone. */
export const versionsOf = ({ templateVersion, requiredVersion }: Versions): Versions => ({
  ...(templateVersion !== undefined && { templateVersion }),
  ...(requiredVersion !== undefined && { requiredVersion }),
});

/** Returns the versions after a change. */
export function versionsAfter(
  { templateVersion, requiredVersion = templateVersion }: Versions,
  change: TemplateVersionChange,
): Versions {
  const { version, required = version } = change;
  const needed = Math.max(requiredVersion ?? 0, required);
  return { templateVersion: version, ...(needed !== version && { requiredVersion: needed }) };
}
