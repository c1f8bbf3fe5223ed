-- xlm-mpi: pages of the manual, for pandoc: links between documents become links between pages, the first heading the title,
-- tables may be scrolled, options have anchors, and comments `<!-- figure: CAPTION -->` become figures.
-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Environment: MANUAL_PAGES has lines `SOURCE NAME TITLE`, or `SOURCE =FILE`; MANUAL_SOURCE is the document,
-- MANUAL_FIGURES a folder of figures by caption.
local pages, files, titles = {}, {}, {}
for source, name, title in os.getenv("MANUAL_PAGES"):gmatch("(%S+) (%S+) ?([^\n]*)\n") do
    if name:sub(1, 1) == "=" then files[source] = name:sub(2) else pages[source], titles[source] = name, title end
end
local own = os.getenv("MANUAL_SOURCE")
local folder = own:match("^(.*/)") or ""
local title, titleid

-- The path of a link from the top of the sources.
local function from_top(path)
    path = folder .. path
    repeat
        local shorter = path:gsub("[^/]+/%.%./", "", 1)
        local same = shorter == path
        path = shorter
    until same
    return path
end

function Link(link)
    local target = link.target
    if target:match("^%a+:") or target:match("^#") then return nil end
    local path, anchor = target:match("^([^#]*)(#?.*)$")
    path = from_top(path)
    if pages[path] then
        link.target = pages[path] .. ".html" .. anchor
        -- A document that is named by its file: in the manual, by its title.
        if pandoc.utils.stringify(link):match("^[%w/.-]+%.md$") then link.content = {pandoc.Str(titles[path])} end
    elseif files[path] then
        link.target = files[path]
    else
        error(own .. ": a link leads to " .. path .. ", which is not in the manual")
    end
    return link
end

function Table(t)
    -- Columns as wide as their contents ask for, not by the lengths of lines in the source.
    for _, column in ipairs(t.colspecs) do column[2] = nil end
    return pandoc.Div({t}, pandoc.Attr("", {"scroll"}, {{"role", "region"}, {"tabindex", "0"}, {"aria-label", "Table"}}))
end

function RawBlock(block)
    local text = ""
    for caption in block.text:gmatch("<!%-%- figure: (.-) %-%->") do
        local file = os.getenv("MANUAL_FIGURES") .. "/" .. caption:gsub("[^%w]+", "-"):lower() .. ".html"
        local handle = io.open(file)
        if not handle then error(own .. ": there is no figure " .. file) end
        text = text .. handle:read("a")
        handle:close()
    end
    if text == "" then return {} end
    return pandoc.RawBlock("html", text ..
        '<p class="note">From the <a href="example-report.html">report on the runs of the tutorial</a>.</p>\n')
end

-- Man pages: their headings have anchors as those of documents, and names of other programs are links.
function Header(header)
    if header.identifier == "" then
        header.identifier = pandoc.utils.stringify(header):lower():gsub("[^%w ]", ""):gsub(" ", "-")
        return header
    end
end

function Strong(strong)
    local name = pandoc.utils.stringify(strong)
    if folder == "man/" and name:match("^xlm_%l+$") and name .. ".1" ~= own:match("[^/]*$") then
        return pandoc.Link(strong, "man-" .. name .. ".html")
    end
end

local seen = {}
function DefinitionList(list)
    for _, item in ipairs(list.content) do
        local option = pandoc.utils.stringify(item[1]):match("%-%-([%w-]+)")
        if option then
            seen[option] = (seen[option] or 0) + 1
            local id = "option-" .. option .. (seen[option] > 1 and "-" .. seen[option] or "")
            item[1] = {pandoc.Span(item[1], pandoc.Attr(id))}
        end
    end
    return list
end

function Pandoc(doc)
    for i, block in ipairs(doc.blocks) do
        if block.t == "Header" and block.level == 1 then
            doc.meta.title = pandoc.MetaInlines(block.content)
            doc.meta.titleid = block.identifier
            table.remove(doc.blocks, i)
            break
        end
    end
    return doc
end
