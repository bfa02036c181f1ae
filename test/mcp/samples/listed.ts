/** The list of tools as SPEC "Agent-tool layer (MCP)" and its parameters want it: written down by hand, nothing of it taken from the service. */

/**
 * What a tool does: `read` changes nothing; `add` loses nothing; `change` may overwrite. `same`: calling it twice leaves the same as once;
 * `own`: nobody outside hears of it, as of schemas and pages, while writes of records fire triggers that may send mail.
 */
export type Effect = 'read' | `${'add' | 'change'}${'' | ' same'}${'' | ' own'}`;

/** A tool, whether it is advanced, its effect, and its arguments: s text, i whole number, b Boolean, o object, d time, e(…) one of; ! required. */
export type Listed = readonly [name: string, tier: 'basic' | 'advanced', effect: Effect, parameters: string];

export const listed: readonly Listed[] = [
  ['Get-Schema', 'basic', 'read', 'className:s tablesNameOnly:b'],
  ['Get-Data', 'basic', 'read', 'table:s! keys:s[] limit:i=5 order:s skip:i where:o objectId:id'],
  [
    'Aggregate-Data',
    'basic',
    'read',
    'table:s! groupBy:s[] metrics:o[] where:o having:o dateBucket:e(day|week|month|quarter|year) order:s limit:i',
  ],
  ['Create-Many', 'basic', 'add', 'table:s! data:o[]! skipTriggers:b skipTimeline:b'],
  ['Get-all-Users', 'basic', 'read', ''],
  ['Get-Triggers', 'basic', 'read', 'className:s activeOnly:b'],
  ['Set-Trigger', 'advanced', 'change own', 'triggerId:id className:s name:s active:b event:s criteria:o actions:o[]'],
  ['Create-Table', 'advanced', 'add own', 'className:s! label:s fields:o[] timeline:b'],
  [
    'Create-or-Update-User',
    'advanced',
    'change own',
    'objectId:id username:s password:s name:s email:s phone:s extension:s job:s language:s active:b isPortalUser:b',
  ],
  ['Upload-Public-File', 'basic', 'add', 'fileName:s! contentType:s! base64:s!'],
  ['Get-File-Content', 'basic', 'read', 'table:s! objectId:id! field:s! as:e(text|base64|link) maxBytes:i url:s'],
  ['Get-Site-Pages', 'basic', 'read', 'siteId:hex search:s menus:b'],
  ['Set-Terminology-Dictionary', 'advanced', 'change same own', 'terms:o!'],
  ['Replace-Terms', 'advanced', 'change own', 'pageId:hex! replacements:o! dryRun:b'],
  ['Get-Record', 'basic', 'read', 'table:s! objectId:id! keys:s[] include:s[]'],
  ['Count-Data', 'basic', 'read', 'table:s! where:o'],
  ['Search-Records', 'basic', 'read', 'query:s! tables:s[] limit:i=20'],
  ['Find-Duplicates', 'basic', 'read', 'table:s phone:s email:s name:s companyId:s limit:i=20'],
  ['Create-Record', 'basic', 'add', 'table:s! data:o! skipTriggers:b skipTimeline:b'],
  ['Update-Record', 'basic', 'change', 'table:s! objectId:id! data:o! ifUpdatedAt:d skipTriggers:b skipTimeline:b'],
  ['Update-Many', 'basic', 'change', 'table:s! updates:o[]! skipTriggers:b skipTimeline:b'],
  ['Upsert-Record', 'basic', 'change same', 'table:s! matchOn:s[]! data:o!'],
  ['Get-Related-Records', 'basic', 'read', 'table:s! objectId:id! relatedTables:s[] limit:i=5'],
  ['Get-Customer-Card', 'basic', 'read', 'objectId:id! sections:s[] limit:i=5'],
  ['Get-Lookup-Values', 'basic', 'read', 'tables:s[]! search:s limit:i=200'],
  ['Validate-Records', 'basic', 'read', 'table:s! data:o[]!'],
  ['Import-Records', 'basic', 'change', 'table:s! rows:o[]! fieldMap:o matchOn:s[] onDuplicate:e(skip|create|update) dryRun:b'],
  ['Convert-Lead', 'basic', 'change same', 'objectId:id! statusId:id ownerId:id'],
  ['Assign-Owner', 'basic', 'change same', 'table:s! objectIds:id[]! userId:id! field:s'],
  ['Get-Pipeline-Summary', 'basic', 'read', 'from:d to:d ownerId:id groupBy:e(status|owner|month|source)'],
  ['Add-Note', 'basic', 'add', 'table:s! objectId:id! comment:s! name:s'],
  ['Create-Task', 'basic', 'add', 'name:s! date:d accountId:id ownerId:id statusId:id description:s relatedTo:o'],
  ['Complete-Task', 'basic', 'change', 'objectId:id! comment:s'],
  ['Get-Tasks', 'basic', 'read', 'ownerId:id accountId:id due:e(overdue|today|week|all) includeDone:b limit:i=20 skip:i'],
  ['Schedule-Activity', 'basic', 'add', 'name:s! startTime:d! endTime:d! accountId:id ownerId:id location:s allowConflict:b'],
  ['Get-Calendar', 'basic', 'read', 'from:d! to:d! ownerIds:id[] freeSlots:b'],
  ['Get-Timeline', 'basic', 'read', 'table:s! objectId:id! fields:s[] limit:i=20 skip:i'],
  ['Get-Recent-Changes', 'basic', 'read', 'since:d! tables:s[] event:e(create|update|delete) userId:s limit:i=50 skip:i'],
  ['Get-Request-Log', 'advanced', 'read', 'from:d to:d method:s path:s statusCode:i limit:i=50 skip:i'],
  ['Get-Table-Stats', 'basic', 'read', 'tables:s[]'],
  ['Add-Fields', 'advanced', 'add own', 'className:s! fields:o[]!'],
  ['Set-Field-Labels', 'advanced', 'change same own', 'className:s! labels:o!'],
  ['Set-Table-Permissions', 'advanced', 'change same own', 'className:s! permissions:o! dryRun:b'],
  ['Set-Table-Timeline', 'advanced', 'change same own', 'className:s! enabled:b displayFields:o index:o'],
  ['Get-Terminology-Dictionary', 'basic', 'read', 'tables:s[]'],
  ['Attach-File', 'basic', 'change same', 'table:s! objectId:id! field:s! name:s! url:s!'],
  ['Upload-Private-File', 'basic', 'change', 'table:s! objectId:id! field:s! fileName:s! contentType:s! base64:s!'],
  ['Get-My-Access', 'basic', 'read', ''],
  ['Get-Roles', 'basic', 'read', 'role:s'],
  ['Set-User-Roles', 'advanced', 'change same own', 'userId:id! roles:s[]!'],
  ['Set-User-MCP-Permissions', 'advanced', 'change same own', 'userId:id! permissions:s[]!'],
  ['Get-Trigger-Logs', 'basic', 'read', 'triggerId:id objectId:id from:d to:d errorsOnly:b limit:i=20 skip:i'],
  ['Test-Trigger', 'advanced', 'read', 'triggerId:id! objectId:id!'],
  ['Get-Reports', 'basic', 'read', 'search:s table:s limit:i=50'],
  ['Run-Report', 'basic', 'read', 'reportId:id! where:o limit:i=50 skip:i'],
  ['Save-Report', 'basic', 'change', 'reportId:id name:s! table:s! keys:s[] where:o order:s groupBy:s[]'],
  ['Get-Site-Page', 'basic', 'read', 'pageId:hex! path:s'],
  ['Set-Site-Page', 'advanced', 'change own', 'pageId:hex! operations:o[]! version:s! dryRun:b'],
  ['Set-Menu', 'advanced', 'change same own', 'menuId:hex! items:o[]! version:s! dryRun:b'],
  ['Get-Config-Flags', 'advanced', 'read', 'name:s'],
  ['Set-Config-Flag', 'advanced', 'change same own', 'name:s! value:o! dryRun:b'],
  [
    'Get-Messages',
    'basic',
    'read',
    'accountId:id conversationId:id channel:e(whatsapp|sms|email|call|chat|all) from:d to:d failedOnly:b limit:i=20 skip:i',
  ],
  ['Get-Campaign-Stats', 'basic', 'read', 'campaignId:id from:d to:d errors:b limit:i=20'],
  [
    'Get-Sales-Documents',
    'basic',
    'read',
    'kind:e(quote|invoice|receipt|order|all) accountId:id number:s objectId:id from:d to:d withLines:b limit:i=20 skip:i',
  ],
  ['Create-Price-Quote', 'basic', 'add', 'accountId:id! saleId:id templateId:id rows:o[]! name:s dryRun:b'],
  ['Notify-User', 'basic', 'add', 'userIds:id[]! content:s! icon:s table:s objectId:id'],
  ['Get-System-Info', 'basic', 'read', ''],
];

/** SPEC "Agent-tool layer (MCP)" names these. */
export const namedBySpec = [
  ...['Get-Schema', 'Get-Data', 'Aggregate-Data', 'Create-Many', 'Get-all-Users', 'Get-Triggers', 'Set-Trigger'],
  ...['Create-Table', 'Create-or-Update-User', 'Upload-Public-File', 'Get-File-Content', 'Get-Site-Pages'],
  ...['Set-Terminology-Dictionary', 'Replace-Terms'],
];
