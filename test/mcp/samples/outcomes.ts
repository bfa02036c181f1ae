/**
 * Who may call which tool in a new system: written by hand, from the tools' permissions and tiers, and from what the roles of a new system may do
 * with its tables. Reference: agents.md#tool-rights, permissions.md#permissions-of-a-new-system.
 */

/** The columns, in their order; a space between groups. */
export const columns = [
  ...['masterKey', 'apiKey'],
  // Administrators: with all four permissions; the same while the system has advanced tools switched off; with mcp:view alone.
  ...['admin', 'adminWithoutSwitch', 'adminWhoViews'],
  // All four permissions, and mcp:view alone; advanced tools are switched on here and below.
  ...['sales', 'salesWhoViews'],
  ...['readOnly', 'noRole'],
  // Administrators: without permissions; with a token of mcp:view alone; with a token of all four but now only mcp:view and mcp:create.
  ...['noPermission', 'fewScopes', 'manyScopes'],
  // An administrator with all four permissions of a system that has closed sign-in.
  'closedSignIn',
] as const;
export type Column = (typeof columns)[number];

/**
 * `+` succeeds; `p` a permission is missing; `r` the role Admin is missing; `s` advanced tools are switched off; `c` and `d` the permissions of a
 * table refuse it, with the first or second text after the cells; `i` the same for each item; `h` the table is hidden from the caller.
 */
export type Outcome = '+' | 'p' | 'r' | 's' | 'c' | 'd' | 'i' | 'h';

/**
 * A tool; the action that its refusal names if the whole tool is refused; the cells; the actions that the tables' permissions refuse. `Made` and
 * `Own` stand for the table that the call is about.
 */
type Row = readonly [tool: string, refusal: string, cells: string, first?: string, second?: string];

export const rows: readonly Row[] = [
  ['Get-Schema', 'find Accounts', '++ +++ ++ +h p++ p'],
  ['Get-Data', 'find Accounts', '++ +++ ++ +c p++ p', 'find Accounts'],
  ['Aggregate-Data', 'find Sales', '++ +++ ++ +c p++ p', 'find Sales'],
  ['Create-Many', 'create Contacts', '++ ++p +p ii pp+ p', 'create Contacts'],
  ['Get-all-Users', 'find _User', '++ +++ ++ +c p++ p', 'find _User'],
  ['Get-Triggers', 'find _Trigger', '++ +++ cc cc p++ p', 'find _Trigger'],
  ['Set-Trigger', 'update _Trigger', '++ +sp rp rr ppp p'],
  ['Create-Table', 'create Made', '++ +sp rp rr ppp p'],
  ['Create-or-Update-User', 'update _User', '++ +sp rp rr ppp p'],
  ['Upload-Public-File', 'create _StoredFile', '++ ++p +p ++ pp+ p'],
  ['Get-File-Content', 'find Notes', '++ +++ ++ +c p++ p', 'get Notes'],
  ['Get-Site-Pages', 'find SitePages', '++ +++ ++ +c p++ p', 'find SitePages'],
  ['Set-Terminology-Dictionary', 'update _Dictionary', '++ +sp rp rr ppp p'],
  ['Replace-Terms', 'update SitePages', '++ +sp rp rr ppp p'],
  ['Get-Record', 'find Accounts', '++ +++ ++ +c p++ p', 'get Accounts'],
  ['Count-Data', 'find Accounts', '++ +++ ++ +c p++ p', 'find Accounts'],
  ['Search-Records', 'find Accounts', '++ +++ ++ +c p++ p', 'find Accounts'],
  ['Find-Duplicates', 'find Accounts', '++ +++ ++ +c p++ p', 'find Accounts'],
  ['Create-Record', 'create Contacts', '++ ++p +p cc pp+ p', 'create Contacts'],
  ['Update-Record', 'update Contacts', '++ ++p +p cc ppp p', 'update Contacts'],
  ['Update-Many', 'update Contacts', '++ ++p +p ii ppp p', 'update Contacts'],
  ['Upsert-Record', 'update Contacts', '++ ++p +p cd ppp p', 'create Contacts', 'find Contacts'],
  ['Get-Related-Records', 'find Accounts', '++ +++ ++ +c p++ p', 'get Accounts'],
  ['Get-Customer-Card', 'find Accounts', '++ +++ ++ +c p++ p', 'get Accounts'],
  ['Get-Lookup-Values', 'find _SCHEMA', '++ +++ ++ +c p++ p', 'find TaskStatuses'],
  ['Validate-Records', 'find Accounts', '++ +++ ++ +c p++ p', 'create Accounts'],
  ['Import-Records', 'update Contacts', '++ ++p +p cc ppp p', 'create Contacts'],
  ['Convert-Lead', 'update Accounts', '++ ++p +p cd ppp p', 'update Accounts', 'get Accounts'],
  ['Assign-Owner', 'update Accounts', '++ ++p +p cc ppp p', 'update Accounts'],
  ['Get-Pipeline-Summary', 'find Sales', '++ +++ ++ +c p++ p', 'find Sales'],
  ['Add-Note', 'create Notes', '++ ++p +p cd pp+ p', 'create Notes', 'get Accounts'],
  ['Create-Task', 'create Tasks', '++ ++p +p cd pp+ p', 'create Tasks', 'get Accounts'],
  ['Complete-Task', 'update Tasks', '++ ++p +p cd ppp p', 'update Tasks', 'get Tasks'],
  ['Get-Tasks', 'find Tasks', '++ +++ ++ +c p++ p', 'find Tasks'],
  ['Schedule-Activity', 'create Activities', '++ ++p +p cc pp+ p', 'create Activities'],
  ['Get-Calendar', 'find Activities', '++ +++ ++ +c p++ p', 'find Activities'],
  ['Get-Timeline', 'find Accounts', '++ +++ ++ +c p++ p', 'get Accounts'],
  ['Get-Recent-Changes', 'find _Timeline', '++ +++ ++ +c p++ p', 'find _Timeline'],
  ['Get-Request-Log', 'find _RequestLog', '++ csp rp rr ppp p', 'find _RequestLog'],
  ['Get-Table-Stats', 'find _SCHEMA', '++ +++ ++ +c p++ p', 'find Accounts'],
  ['Add-Fields', 'create Own', '++ +sp rp rr ppp p'],
  ['Set-Field-Labels', 'update Own', '++ +sp rp rr ppp p'],
  ['Set-Table-Permissions', 'update Own', '++ +sp rp rr ppp p'],
  ['Set-Table-Timeline', 'update Own', '++ +sp rp rr ppp p'],
  ['Get-Terminology-Dictionary', 'find _Dictionary', '++ +++ ++ +c p++ p', 'find _Dictionary'],
  ['Attach-File', 'update Notes', '++ ++p +p cc ppp p', 'update Notes'],
  ['Upload-Private-File', 'update Documents', '++ ++p +p cc ppp p', 'update Documents'],
  ['Get-My-Access', 'find _User', '++ +++ ++ ++ +++ +'],
  ['Get-Roles', 'find _Role', '++ +++ ++ +c p++ p', 'find _Role'],
  ['Set-User-Roles', 'update _Role', '++ +sp rp rr ppp p'],
  ['Set-User-MCP-Permissions', 'update _User', '++ +sp rp rr ppp p'],
  ['Get-Trigger-Logs', 'find _syslogTriggers', '++ +++ cc cc p++ p', 'find _syslogTriggers'],
  ['Test-Trigger', 'find _Trigger', '++ +sp rp rr ppp p'],
  ['Get-Reports', 'find _DynamicQueries', '++ +++ ++ +c p++ p', 'find _DynamicQueries'],
  ['Run-Report', 'find _DynamicQueries', '++ +++ ++ +c p++ p', 'get _DynamicQueries'],
  ['Save-Report', 'update _DynamicQueries', '++ ++p +p cd ppp p', 'create _DynamicQueries', 'find Accounts'],
  ['Get-Site-Page', 'find SitePages', '++ +++ ++ +c p++ p', 'get SitePages'],
  ['Set-Site-Page', 'update SitePages', '++ +sp rp rr ppp p'],
  ['Set-Menu', 'update SiteMenus', '++ +sp rp rr ppp p'],
  ['Get-Config-Flags', 'find Config', '++ +sp rp rr ppp p'],
  ['Set-Config-Flag', 'update Config', '++ +sp rp rr ppp p'],
  ['Get-Messages', 'find ConversationMessages', '++ +++ ++ +c p++ p', 'find CallRecords'],
  ['Get-Campaign-Stats', 'find CampaignSentLog', '++ +++ ++ +c p++ p', 'find CampaignSentLog'],
  ['Get-Sales-Documents', 'find AccountingHeaders', '++ +++ ++ +c p++ p', 'find AccountingHeaders'],
  ['Create-Price-Quote', 'create PriceQuotes', '++ ++p +p cd pp+ p', 'create PriceQuotes', 'get Accounts'],
  ['Notify-User', 'create _Notification', '++ ++p cp cd pp+ p', 'create _Notification', 'find _User'],
  ['Get-System-Info', 'find _SCHEMA', '++ +++ ++ ++ p++ p'],
];

/** The expected outcome of a call. */
export interface Expected {
  readonly outcome: Outcome;
  /** Action and class that a refusal names, such as `find Accounts`. */
  readonly refusal: string;
}

/** Returns the expected outcome of every tool for a column. */
export function expectedFor(column: Column): ReadonlyMap<string, Expected> {
  const at = columns.indexOf(column);
  return new Map(
    rows.map(([tool, refusal, cells, first = '', second = '']) => {
      const outcome = cells.replaceAll(' ', '')[at] as Outcome;
      const ofTable = outcome === 'd' ? second : first;
      return [tool, { outcome, refusal: 'cdi'.includes(outcome) ? ofTable : refusal }];
    }),
  );
}
