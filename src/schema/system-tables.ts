/** Fields that the service itself reads and writes (SPEC "`_User`", "`Config`", "Other system tables"): nobody may delete them. */
const systemFields: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    _User: ['username', 'email', 'name', 'status', 'last_success_login', 'emailVerified', '_failed_login_count'],
    _Role: ['name', 'users', 'roles'],
    _Session: ['user', 'expiresAt', 'createdWith', 'installationId'],
    _Dictionary: ['tblName', 'field', 'value'],
    Config: ['Name', 'Value'],
  }).map(([className, names]) => [className, new Set(names)]),
);

/** Whether a table is the service's own: it cannot be dropped. */
export function isSystemTable(className: string): boolean {
  return className.startsWith('_') || className === 'Config';
}

/** Whether the service relies on a field of a system table. */
export function isSystemField(className: string, field: string): boolean {
  return systemFields.get(className)?.has(field) ?? false;
}
