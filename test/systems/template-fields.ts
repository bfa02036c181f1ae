/**
 * Documented fields of business tables (tables.md, system-tables.md). `Name` is a String, `IsAccount:Boolean` has another type,
 * `StatusId>AccountStatuses` is a Pointer.
 */
export const businessTables: Record<string, string> = {
  Accounts: `Name F_name L_name PhoneNumber Email Address City CompanyId IsAccount:Boolean StatusId>AccountStatuses
    LeadStatusId>LeadStatuses LeadSourceId>LeadSource Comment:HTML/XML array_languages_Pointer_Languages:Array OwnerId>_User
    LeadOwnerId>_User ExternalId fromWeb2lead:Boolean`,
  Contacts: 'FirstName LastName AccountId>Accounts',
  Sales: 'Name Total:Number ClosingDate:Date AccountId>Accounts SaleStatusId>SaleStatuses',
  SaleRows: 'SaleId>Sales ProductId>Products Quantity:Number Total:Number',
  Cases: 'Name Number:Number StatusId>CaseStatuses PriorityId>CasePriorities',
  Tasks: 'Name Date:Date AccountId>Accounts StatusId>TaskStatuses OwnerId>_User',
  Activities: 'Name StartTime:Date EndTime:Date Location AccountId>Accounts',
  Products: 'Name Price:Number Active:Boolean PreviewImage:File Image1:File Image2:File',
  PriceQuotes:
    'Number:Number AccountId>Accounts SaleId>Sales TemplateId>DocumentTemplates SignedPdf:PrivateFile Signature:PrivateFile',
  AccountingHeaders: 'DocumentDate:Date TotalSum:Number VatValue:Number DocTypeId>DocTypes File:PrivateFile',
  AccountingInvoiceLines: 'AccountingHeaderId>AccountingHeaders',
  Retainers: 'NextChargeDate:Date ChargesLimit:Number TotalSum:Number AccountId>Accounts',
  Conversations: 'Identity ChannelId>Channels StatusId>ConversationStatuses',
  ConversationMessages:
    'Message Direction failed:Boolean failedAt:Date errors:Array IsErrorRead:Boolean ConversationId>Conversations File:File',
  Channels: 'Identity',
  Campaigns: 'Type>CampaignTypes EmailContent:HTML/XML CampaignStatus>CampaignStatuses',
  Notes: 'Name Comment:HTML/XML File:File',
  Emails: 'MailFrom MailTo CC BCC Subject SendAt:Date SendStatus ErrorMessage MessageId ConversationId>Conversations',
  SMS: `From To Content Status TemplateId>SMSTemplates AccountId>Accounts SaleId>Sales CaseId>Cases TaskId>Tasks
    ActivityId>Activities ContactId>Contacts`,
  CallRecords: 'time:Date caller type status representative_name duration:Number record AccountId>Accounts',
  CampaignSentLog: `Status delivered:Boolean deliveredAt:Date opened:Boolean openedAt:Date clicked:Boolean clickedAt:Date
    failed:Boolean failedAt:Date unsubscribed:Boolean Error CampaignId>Campaigns AccountId>Accounts`,
  LeadSource: 'Name',
  LeadStatuses: 'Name',
  AccountStatuses: 'Name',
  CityList: 'Name',
  Languages: 'Name',
  Interests: 'Name',
  Tags: 'Name',
  Courses: 'Name',
  _DynamicQueries: 'Name',
};

/** Tables of the service: all of their fields. */
export const systemTables: Record<string, string> = {
  _User: `username password email name status>UserStatuses profile_image:File last_success_login:Date emailVerified:Boolean language
    _failed_login_count:Number`,
  Config: 'Name Value:Object',
  _Dictionary: 'tblName field value',
  _Timeline: 'event objectClass objectIdValue data:Object user>_User Referer Last:Boolean AccountId>Accounts',
  _syslogTriggers: 'triggerId actionId event objectIdValue data error',
  _RequestLog: `path method ip country referer userAgent user>_User usingMK:Boolean internal:Boolean trustedIP:Boolean
    duration:Number statusCode:Number contentLength:Number service retries:Number installationId keyName`,
  _AdminLog: 'act who subject before:Object after:Object requestId',
  _Notification: 'User>_User Content Date:Date Icon objectClass objectIdValue updatedByTrigger',
  _GeneralLogs: 'Type Name Value',
};

/** Parses name, type and target of each field. */
export function fieldList(text: string): [name: string, type: string, targetClass?: string][] {
  return text.split(/\s+/).map((field) => {
    const [name = '', target] = field.split('>');
    if (target !== undefined) return [name, 'Pointer', target];
    const [plain = '', type = 'String'] = name.split(':');
    return [plain, type];
  });
}
