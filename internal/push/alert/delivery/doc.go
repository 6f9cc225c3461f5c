// Package delivery decides which messages of alerts are due, and has them sent.
//
// # Stories
//
// The fan-out follows the log as that of webhooks does, with a position of its own. If
// several alerts of a channel select an event, it writes one delivery, which is due at the
// earliest time of these alerts and names them as its causes. A report is one story for a
// channel: the first change of it that an alert selects creates the delivery. A later
// change, for instance when its document was read, can make the delivery due earlier but
// does not create another one. A unique index of the store ensures this for all processes,
// as long as deliveries are stored. A report whose delivery may have been removed is too
// old to be news: see news. A correction is a story of its own, and so is each change of a
// position.
//
// # Messages
//
// A lane is the rhythm in which a delivery waits. Deliveries of a channel that are due at
// the same time are one message, also if their lanes differ; but up to five reports of the
// lane at_once are a message each. A group is due five minutes after its first event, and
// takes all deliveries of its lane. Quiet hours and the limit of a day let due deliveries wait, and make one
// message of them.
//
// A message is sent while its channel is claimed, and the deliveries in it are settled in
// one transaction. If the process dies in between, the next one sends the message again,
// with the same id if the same events are in it.
//
// # What is not sent
//
// History, back-fill and imported reports are never news. After a backup was restored,
// deliveries that were due before are not sent, since they may have been, unless quiet
// hours, the limit of a day or a pause kept them until after it. Nor are reports that were
// published before and are read again. Ten minutes before the restore count as
// after it, since a fail-over that loses the end of the log looks the same, and must not
// lose messages. A delivery is deleted if its alerts were deleted or disabled meanwhile, so
// that another alert may select the story later. It is dropped if it was due for more than
// four days while its channel was paused.
package delivery
